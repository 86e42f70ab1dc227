# SPDX-License-Identifier: MIT
# The files that boot in the guest: PID 1 and its file system, and links to the kernels.

GUEST_INIT := $(BUILD)/guest/init/init
INITRAMFS := $(BUILD)/guest/initramfs.cpio.gz
KERNEL_FAST := $(BUILD)/guest/kernel-fast
KERNEL_DEBUG := $(BUILD)/guest/kernel-debug
KERNEL_IDS := $(KERNEL_FAST).id $(KERNEL_DEBUG).id
GUEST_INIT_SRCS := $(sort $(wildcard guest/init/*.c))
GUEST_INIT_OBJS := $(GUEST_INIT_SRCS:%.c=$(BUILD)/%.o)

# Keep this folder's name out of it: then every clone has the same guest, and they share its
# snapshots.
$(GUEST_INIT_OBJS): $(BUILD)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -ffile-prefix-map=$(CURDIR)=. -Iguest/init -MMD -MP -c $< -o $@

$(eval $(call listed,$(BUILD)/guest/init.list,$(GUEST_INIT_SRCS)))

$(GUEST_INIT): $(GUEST_INIT_OBJS) $(BUILD)/guest/init.list
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_HOST) -static -o $@ $(GUEST_INIT_OBJS)

$(BUILD)/guest/initramfs.inputs: FORCE
	$(Q)$(make_folder) && guest/mkinitramfs.sh --inputs >$@.new && $(stamp)

$(INITRAMFS): $(GUEST_INIT) guest/mkinitramfs.sh $(BUILD)/guest/initramfs.inputs
	$(call say,CPIO,$@)
	$(Q)guest/mkinitramfs.sh $< $@

# The cache decides whether anything has to be compiled: it knows the source, the
# configuration and the compiler.  The id identifies the kernel for everything that is
# built against it; the link itself has the time of a directory.
$(KERNEL_IDS): $(BUILD)/guest/kernel-%.id: FORCE
	$(Q)$(make_folder) && dir=$$(guest/build-kernel.sh $*) && \
		stat -c '%n %Y' "$$dir/complete" >$@.new && \
		{ [ $(@:.id=) -ef "$$dir" ] || ln -sfn "$$dir" $(@:.id=); } && $(stamp)

$(KERNEL_FAST) $(KERNEL_DEBUG): %: %.id ;

-include $(if $(BUILDING),$(GUEST_INIT_OBJS:.o=.d))
