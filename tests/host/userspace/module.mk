# SPDX-License-Identifier: MIT
#
# Host tests of libagate and of agate-gem, on a fake kernel: all under ASan and
# UBSan, and those with threads also under TSan.  gem-preview is agate-gem itself on
# that fake kernel and the GPU model's job types: it draws the picture without a guest.

US_TEST		:= $(BUILD)/tests/host/userspace
US_WRAPPED	:= drmIoctl drmPrimeFDToHandle drmPrimeHandleToFD drmCloseBufferHandle \
		   drmSyncobjCreate drmSyncobjDestroy drmGetVersion drmFreeVersion drmGetDevices2 \
		   drmFreeDevices mmap munmap
US_WRAP		:= $(US_WRAPPED:%=-Wl,--wrap=%)
# A test that opens the device through a tool gets the fake.
US_WRAP_gem_picture := -Wl,--wrap=agate_device_open
US_WRAP_device	:= -Wl,--wrap=open
# A library in which lab 09 is not written yet.
US_WRAP_bo_cache_life := -Wl,--wrap=agate_bo_cache_init
US_TEST_CFLAGS	= $(US_CFLAGS) -ffp-contract=off -Isim/model -Iuserspace/tools \
		  -Itests/host/userspace $(call US_PKG_CFLAGS,libpng)

US_TEST_MODEL	:= clip fragment raster shade tiler tiler_bin tiler_context
US_TEST_COMMON	:= cache_helpers fake_calls fake_gpu fake_kernel fake_vm
US_TEST_OBJS	:= $(LIBAGATE_FRAME) $(LIBAGATE_LAB_08:%=$(AGATE_LAB_08_NAME)/%) \
		   $(LIBAGATE_LAB_09:%=$(AGATE_LAB_09_NAME)/%) $(US_TEST_MODEL) \
		   $(US_TEST_COMMON) $(GEM_PARTS)
US_TESTS	:= $(patsubst tests/host/userspace/test_%.c,%,$(wildcard tests/host/userspace/test_*.c))
US_TESTS_TSAN	:= bo_cache_races bo_races sparse_array

# $(1): the folder for objects; $(2): its flags; $(3): the folder of sources.
define us_test_rule
$(US_TEST)/$(1)/%.o: $(3)/%.c
	$$(call say,CC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(US_TEST_CFLAGS) $(2) -MMD -MP -c -o $$@ $$<

endef

# $(1): asan, tsan or plain; $(2): its flags.
define us_test_rules
$(foreach dir,userspace userspace/tools sim/model tests/host/userspace,
$(call us_test_rule,$(1),$(2),$(dir)))
$(call us_test_rule,$(1)/$(AGATE_LAB_08_NAME),$(2) -Wno-error,$(AGATE_LAB_08))
$(call us_test_rule,$(1)/$(AGATE_LAB_09_NAME),$(2) -Wno-error,$(AGATE_LAB_09))

$(call listed,$(US_TEST)/$(1)/common.list,$(US_TEST_OBJS))
$(US_TEST)/$(1)/common.a: $(US_TEST_OBJS:%=$(US_TEST)/$(1)/%.o) $(US_TEST)/$(1)/common.list
	$$(call say,AR,$$@)
	$$(Q)rm -f $$@
	$$(Q)$$(AR) rcs $$@ $$(filter %.o,$$^)
endef

$(eval $(call us_test_rules,asan,$(CFLAGS_SAN)))
$(eval $(call us_test_rules,tsan,$(CFLAGS_TSAN)))
$(eval $(call us_test_rules,plain,))

US_LINK_LIBS	= $(call US_PKG_LIBS,libpng) -lcmocka -lm -pthread

US_ASAN_PROGRAMS := $(US_TESTS:%=$(US_TEST)/userspace-%)
$(US_ASAN_PROGRAMS): $(US_TEST)/userspace-%: $(US_TEST)/asan/test_%.o $(US_TEST)/asan/harness.o \
		$(US_TEST)/asan/common.a
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_SAN) $(US_WRAP) $(US_WRAP_$*) -o $@ $^ $(US_LINK_LIBS)

US_TSAN_PROGRAMS := $(US_TESTS_TSAN:%=$(US_TEST)/userspace-%-tsan)
$(US_TSAN_PROGRAMS): $(US_TEST)/userspace-%-tsan: $(US_TEST)/tsan/test_%.o \
		$(US_TEST)/tsan/harness.o $(US_TEST)/tsan/common.a
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_TSAN) $(US_WRAP) -o $@ $^ $(US_LINK_LIBS)

# Same arguments as agate-gem.
$(US_TEST)/gem-preview: $(US_TEST)/plain/gem_preview.o $(US_TEST)/plain/agate-gem.o \
		$(US_TEST)/plain/common.a
	$(call say,LD,$@)
	$(Q)$(CC) $(US_WRAP) -Wl,--wrap=agate_device_open -o $@ $^ $(US_LINK_LIBS)

# For a program that has libagate.so: the fake's functions under the names that they replace.
FAKE_KERNEL	:= $(US_TEST)/libfakekernel.so
FAKE_SOURCES	:= $(addprefix tests/host/userspace/,fake_calls.c fake_kernel.c fake_vm.c preload.c)
FAKE_NAMES	:= $(filter-out drmGetVersion,$(US_WRAPPED))

$(FAKE_KERNEL): $(FAKE_SOURCES) $(wildcard tests/host/userspace/fake_*.h)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(US_TEST_CFLAGS) -fPIC -shared -o $@ $(FAKE_SOURCES) \
		$(foreach name,$(FAKE_NAMES),-Wl,--defsym=$(name)=__wrap_$(name)) -pthread

-include $(wildcard $(US_TEST)/*/*.d $(US_TEST)/*/*/*.d)

HOST_TESTS	+= $(US_ASAN_PROGRAMS) $(US_TSAN_PROGRAMS)
