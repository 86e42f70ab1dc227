# SPDX-License-Identifier: MIT
#
# The driver: the frame in kernel/, and one file for each part from solutions/,
# linked together into build/driver/FLAVOUR and built there against that
# flavour's kernel.  FLAVOUR is fast or debug.

DRIVER_FLAVOURS	:= fast debug
DRIVER_PARTS	:= \
	solutions/01-first-contact/agate_pci.c \
	solutions/02-gem-object/agate_gem.c \
	solutions/03-cma/agate_gem_cma.c \
	solutions/04-shmem/agate_gem_shmem.c \
	solutions/05-mmap/agate_gem_mmap.c \
	solutions/06-prime/agate_gem_prime.c \
	solutions/07-purge/agate_gem_purge.c \
	$(sort $(wildcard $(addprefix solutions/,$(addsuffix /agate_*.[ch], \
		10-page-tables 11-address-spaces 12-gpu-faults 13-job-slots \
		14-submit 15-reset 16-coherency 17-power 18-dvfs \
		19-ranges 20-ggtt 21-placement 22-tt 23-eviction 24-vm-bind 25-vm-tables \
		26-suspend))))
DRIVER_SOURCES	:= $(sort $(wildcard kernel/agate_*.[ch])) kernel/agate_compat_probe.sh \
		   kernel/Kbuild $(sort $(wildcard include/agate_*.h)) $(DRIVER_PARTS)
DRIVER_MODULES	:= $(DRIVER_FLAVOURS:%=$(BUILD)/driver/%/agate.ko)

.PHONY: driver
driver: $(DRIVER_MODULES)

$(eval $(call listed,$(BUILD)/driver/sources.list,$(DRIVER_SOURCES)))

# A caller that replaces a part by a lab's files sets WITHOUT=NN-topic: then an outdated
# object of that part is no reason to run kbuild, which takes seconds.
DRIVER_REASONS	:= $(filter-out solutions/$(WITHOUT)/%,$(DRIVER_SOURCES)) kernel/compose.sh \
		   kernel/module.mk guest/kernel-make.sh $(BUILD)/driver/sources.list

# The list of checksums says what the module is made of (tests/keep.sh), so there is none while it
# is built.  Touch the module: kbuild does not change its time when its contents stay the same.  It
# gets the time of the list, so that a source which changes meanwhile is newer.
$(DRIVER_MODULES): $(BUILD)/driver/%/agate.ko: $(DRIVER_REASONS) $(BUILD)/guest/kernel-%.id
	$(call say,MODULE,$@)
	$(Q)kernel/compose.sh $(@D) $(BUILD)/guest/kernel-$*.id $(DRIVER_SOURCES)
	$(Q)rm -f $(@D)/agate.sum && sha256sum $(DRIVER_SOURCES) >$(@D)/agate.sum.new
	$(Q)guest/kernel-make.sh $(BUILD)/guest/kernel-$* M=$(abspath $(@D)) modules \
		>$(@D)/build.log 2>&1 || { cat $(@D)/build.log >&2; exit 1; }
	$(Q)touch -r $(@D)/agate.sum.new $@ && mv $(@D)/agate.sum.new $(@D)/agate.sum

# The messages of sparse about every source.  The log exists even if sparse complains.
$(BUILD)/driver/sparse.log: $(BUILD)/driver/fast/agate.ko
	$(call say,SPARSE,$@)
	$(Q)guest/kernel-make.sh $(BUILD)/guest/kernel-fast M=$(abspath $(BUILD))/driver/fast \
		C=2 modules >$@ 2>&1

# The reference in parts, from which other drivers are put together: see parts.sh.
# symvers is the last file that it makes, so it stands for the folder.
DRIVER_SYMVERS	:= $(DRIVER_FLAVOURS:%=$(BUILD)/parts/%/symvers)

$(DRIVER_SYMVERS): $(BUILD)/parts/%/symvers: $(BUILD)/driver/%/agate.ko kernel/parts.sh \
		scripts/compose-lib.sh $(filter-out $(LIBRARY_PARTS:%=labs/%/lab.json), \
		$(wildcard labs/*/lab.json)) | $(COMPOSE_TOOLS)
	$(call say,PARTS,$(@D))
	$(Q)BUILD=$(BUILD) kernel/parts.sh $*

# parts.sh makes it with the others, but keeps the old file where the content is the same: what was
# made from the headers alone stays.
DRIVER_HEADERS	:= $(DRIVER_FLAVOURS:%=$(BUILD)/parts/%/headers)
$(DRIVER_HEADERS): $(BUILD)/parts/%/headers: $(BUILD)/parts/%/symvers
	$(Q)[ -e $@ ] || BUILD=$(BUILD) kernel/parts.sh $*

# The headers that a lab's files begin with, compiled in advance: see precompile.sh.  They are
# made again when these lines change, not when a file does: that would cost a second each time.
DRIVER_LABS	:= $(filter-out $(LIBRARY_PARTS),$(patsubst labs/%/lab.json,%,$(wildcard labs/*/lab.json)))
LAB_INCLUDES	:= $(DRIVER_LABS:%=$(BUILD)/pch/includes/%)

$(LAB_INCLUDES): $(BUILD)/pch/includes/%: FORCE
	$(Q)$(make_folder) && for file in labs/$*/*.c; do \
		[ ! -f "$$file" ] || { echo "$$file"; awk -f scripts/includes.awk "$$file"; }; \
	done >$@.new && $(stamp)

# $(call precompiled,FLAVOUR,LAB...): what stands for those of the labs that are in the driver
precompiled	= $(patsubst %,$(BUILD)/pch/$(1)/%/done,$(filter $(DRIVER_LABS),$(2)))

define precompiled_rule
$(call precompiled,$(1),$(DRIVER_LABS)): $(BUILD)/pch/$(1)/%/done: $(BUILD)/pch/includes/% \
		$(BUILD)/parts/$(1)/headers $(BUILD)/guest/kernel-$(1).id labs/%/lab.json \
		kernel/precompile.sh scripts/compose-lib.sh scripts/includes.awk
	$$(call say,PCH,$$(@D))
	$$(Q)BUILD=$(BUILD) kernel/precompile.sh $(1) $$*
endef
$(foreach flavour,$(DRIVER_FLAVOURS),$(eval $(call precompiled_rule,$(flavour))))
