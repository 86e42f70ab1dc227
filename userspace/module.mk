# SPDX-License-Identifier: MIT
#
# libagate.so, its tools, and their installation.
#
# The library consists of its frame and the files of each lab.  AGATE_LAB_08 and so on select
# another version of a lab's files, a student's; each version has objects of its own.
# The tools in build/ find the library in ../lib, even in a copy of build/.

AGATE_VERSION	:= 0.1.0
# Changes when a program that was linked with the library before would not run with it.
LIBAGATE_SONAME	:= libagate.so.0
# The labs: all agate_*.c of each folder in solutions/ belong to the library.
LIBRARY_PARTS	:= 08-bo 09-bo-cache

US_BUILD	:= $(BUILD)/userspace
US_PKG_CFLAGS	= $(shell pkg-config --cflags $(1))
US_PKG_LIBS	= $(shell pkg-config --libs $(1))
# The reference has every step of every lab.
US_CFLAGS	= $(CFLAGS_HOST) -Iuserspace $(call US_PKG_CFLAGS,libdrm) \
		  $(foreach part,$(LIBRARY_PARTS),-DLAB$(firstword $(subst -, ,$(part)))=99)
US_LIB_CFLAGS	= $(US_CFLAGS) -fPIC -fvisibility=hidden

LIBAGATE_FRAME	:= agate_bo_cache_info agate_bo_info agate_descriptor agate_device agate_display agate_job \
		   agate_space agate_submit agate_vm_bo
LIBAGATE_OBJS	:= $(LIBAGATE_FRAME:%=$(US_BUILD)/lib/%.o)
LIBAGATE	:= $(BUILD)/lib/libagate.so

$(US_BUILD)/lib/%.o: userspace/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(US_LIB_CFLAGS) -MMD -MP -c -o $@ $<

# $(eval $(call us_lab,NN-topic,NN)): the objects of the chosen version, and of the reference.
define us_lab
AGATE_LAB_$(2) ?= solutions/$(1)
AGATE_LAB_$(2)_NAME := $$(subst /,_,$$(AGATE_LAB_$(2)))
LIBAGATE_LAB_$(2) := $(patsubst solutions/$(1)/%.c,%,$(sort $(wildcard solutions/$(1)/agate_*.c)))
LIBAGATE_OBJS	+= $$(LIBAGATE_LAB_$(2):%=$$(US_BUILD)/$$(AGATE_LAB_$(2)_NAME)/%.o)
LIBAGATE_PART_$(2) := $$(LIBAGATE_LAB_$(2):%=$$(US_BUILD)/solutions_$(1)/%.o)

$$(US_BUILD)/$$(AGATE_LAB_$(2)_NAME)/%.o: $$(AGATE_LAB_$(2))/%.c
	$$(call say,CC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(US_LIB_CFLAGS) -MMD -MP -c -o $$@ $$<
endef
$(foreach part,$(LIBRARY_PARTS),$(eval $(call us_lab,$(part),$(firstword $(subst -, ,$(part))))))

$(eval $(call listed,$(US_BUILD)/libagate.list,$(LIBAGATE_OBJS)))

# --no-undefined: the linker reports a missing symbol here, before the guest does.
US_LINK		= $(CC) -shared -Wl,-soname,$(LIBAGATE_SONAME) -Wl,--no-undefined \
		  -Wl,--version-script=userspace/libagate.map -o $(1) $(call US_PKG_LIBS,libdrm) -pthread

$(LIBAGATE): $(LIBAGATE_OBJS) $(US_BUILD)/libagate.list userspace/libagate.map userspace/module.mk
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(call US_LINK,$@ $(LIBAGATE_OBJS))
	$(Q)ln -sf $(@F) $(@D)/$(LIBAGATE_SONAME)

# The reference in parts, for userspace/compose-lab.sh.  A student's warnings
# are not errors, except for those that hide an error, and a stub uses none of its parameters.
LIBAGATE_LINK	:= $(BUILD)/parts/library/link
LIBAGATE_REFERENCE := $(foreach part,$(LIBRARY_PARTS),$(LIBAGATE_PART_$(firstword $(subst -, ,$(part)))))
US_STUDENT_CFLAGS = $(filter-out -Werror,$(US_LIB_CFLAGS)) -Wno-unused-parameter \
		  $(addprefix -Werror=,implicit-function-declaration int-conversion \
		  incompatible-pointer-types return-type)

$(LIBAGATE_LINK): $(LIBAGATE_OBJS) $(LIBAGATE_REFERENCE) $(US_BUILD)/libagate.list userspace/parts.sh \
		userspace/module.mk userspace/libagate.map userspace/libagate-labs.map scripts/compose-lib.sh \
		$(wildcard labs/*/lab.json) | $(COMPOSE_TOOLS)
	$(call say,PARTS,$(@D))
	$(Q)BUILD=$(BUILD) userspace/parts.sh '$(CC) $(US_STUDENT_CFLAGS)' \
		'$(call US_LINK,"$$library" "$$@")' $(LIBAGATE_FRAME:%=$(US_BUILD)/lib/%.o) -- \
		$(foreach part,$(LIBRARY_PARTS),$(part) $(LIBAGATE_PART_$(firstword $(subst -, ,$(part)))))

# The reference, as the test programs of the labs see it; they are linked with it.
LIBAGATE_LABS	:= $(US_BUILD)/labs/libagate.so
LIBAGATE_LABS_MAP := -Wl,--version-script=userspace/libagate-labs.map

$(LIBAGATE_LABS): $(LIBAGATE) userspace/libagate-labs.map
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(call US_LINK,$@ $(LIBAGATE_LABS_MAP) $(LIBAGATE_OBJS))

AGATE_TOOLS	:= $(BUILD)/bin/agate-info $(BUILD)/bin/agate-gem $(BUILD)/bin/agate-hold \
		   $(BUILD)/bin/agate-map $(BUILD)/bin/agate-top

# The picture is the same to the byte everywhere: no fused multiply-add.
GEM_PARTS	:= gem_backdrop gem_ballast gem_camera gem_display gem_gpu gem_image gem_light gem_math gem_memory gem_mesh \
		   gem_optics gem_scene gem_space
GEM_OBJS	:= $(GEM_PARTS:%=$(US_BUILD)/tools/%.o) $(US_BUILD)/tools/agate-gem.o

$(US_BUILD)/tools/%.o: userspace/tools/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(US_CFLAGS) -ffp-contract=off $(call US_PKG_CFLAGS,libpng) -MMD -MP \
		-c -o $@ $<

$(BUILD)/bin/agate-gem: $(GEM_OBJS) $(LIBAGATE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -o $@ $(GEM_OBJS) -Wl,-rpath,'$$ORIGIN/../lib' -L$(BUILD)/lib \
		-lagate $(call US_PKG_LIBS,libdrm libpng) -lm

# It reads text, and needs no GPU and no library of ours.
TOP_PARTS	:= top_client top_draw top_power top_print top_regions top_sample top_scan top_screen
TOP_OBJS	:= $(TOP_PARTS:%=$(US_BUILD)/tools/%.o) $(US_BUILD)/tools/agate-top.o

$(BUILD)/bin/agate-top: $(TOP_OBJS)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -o $@ $^ $(call US_PKG_LIBS,jansson ncursesw)

$(BUILD)/bin/agate-info: userspace/tools/agate-info.c $(LIBAGATE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) $(US_BUILD)/tools
	$(Q)$(CC) $(US_CFLAGS) $(call US_PKG_CFLAGS,jansson) -MMD -MP -MF $(US_BUILD)/tools/agate-info.d \
		-o $@ $< -Wl,-rpath,'$$ORIGIN/../lib' -L$(BUILD)/lib -lagate \
		$(call US_PKG_LIBS,libdrm jansson)

$(BUILD)/bin/agate-hold: userspace/tools/agate-hold.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) $(US_BUILD)/tools
	$(Q)$(CC) $(US_CFLAGS) -MMD -MP -MF $(US_BUILD)/tools/agate-hold.d -o $@ $< \
		$(call US_PKG_LIBS,libdrm)

-include $(if $(BUILDING),$(wildcard $(US_BUILD)/*/*.d))

.PHONY: userspace
userspace: $(LIBAGATE) $(AGATE_TOOLS)

# Manual pages, from Markdown.  That of the library has the text of agate.h, and each of its
# functions leads to it.
MAN_BUILD	:= $(BUILD)/man
MAN_PAGES	:= $(patsubst userspace/man/%.md,$(MAN_BUILD)/%,$(wildcard userspace/man/*.[13].md))
MAN_DATE	= $(shell LC_ALL=C date -u -d @$${SOURCE_DATE_EPOCH:-$$(stat -c %Y $(1))} +'%B %Y')
MAN_MAKE	= pandoc --standalone --from markdown-smart --to man -M date='$(call MAN_DATE,$<)' \
		  -M footer='Agate $(AGATE_VERSION)' -o $@

$(MAN_BUILD)/%: userspace/man/%.md
	$(call say,MAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(MAN_MAKE) $<

$(MAN_BUILD)/libagate.3: userspace/man/libagate.3.md userspace/man/header.awk userspace/man/example.c \
		userspace/agate.h
	$(call say,MAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)awk -f userspace/man/header.awk userspace/agate.h >$@.header
	$(Q)sed -e '/^HEADER$$/{r $@.header' -e 'd}' -e '/^EXAMPLE$$/{r userspace/man/example.c' -e 'd}' $< | \
		sed '/SPDX-License-Identifier/d' >$@.md
	$(Q)$(MAN_MAKE) $@.md

# The functions that libagate.so shows.
LIBAGATE_FUNCTIONS = $(shell sed -n 's/^	\(agate_[a-z0-9_]*\);$$/\1/p' userspace/libagate.map)

# For users of the library; DESTDIR for packagers.
PREFIX		?= /usr/local
INSTALL_DIR	= $(DESTDIR)$(PREFIX)

## make install [PREFIX=/usr/local] [DESTDIR=]
##                  the library, its headers and pkg-config file, the tools, manual pages
.PHONY: install install-build
install: deps
	$(Q)$(locked) $(MAKE) $(parallel) install-build
	$(call say,INSTALL,$(INSTALL_DIR))
	$(Q)install -d $(addprefix $(INSTALL_DIR)/,bin include/agate lib/pkgconfig share/man/man1 share/man/man3)
	$(Q)install -m 755 $(LIBAGATE) $(INSTALL_DIR)/lib/libagate.so.$(AGATE_VERSION)
	$(Q)ln -sf libagate.so.$(AGATE_VERSION) $(INSTALL_DIR)/lib/$(LIBAGATE_SONAME)
	$(Q)ln -sf $(LIBAGATE_SONAME) $(INSTALL_DIR)/lib/libagate.so
	$(Q)install -m 755 $(AGATE_TOOLS) $(INSTALL_DIR)/bin
	$(Q)install -m 644 userspace/agate.h include/agate_drm.h include/agate_job.h \
		$(INSTALL_DIR)/include/agate
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(AGATE_VERSION)|' \
		userspace/agate.pc.in > $(INSTALL_DIR)/lib/pkgconfig/agate.pc
	$(Q)install -m 644 $(filter %.1,$(MAN_PAGES)) $(INSTALL_DIR)/share/man/man1
	$(Q)install -m 644 $(filter %.3,$(MAN_PAGES)) $(INSTALL_DIR)/share/man/man3
	$(Q)for name in $(LIBAGATE_FUNCTIONS); do \
		echo '.so man3/libagate.3' >$(INSTALL_DIR)/share/man/man3/$$name.3; done

install-build: userspace $(MAN_PAGES)
	@:
