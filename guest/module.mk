# SPDX-License-Identifier: MIT
# What boots in the guest: PID 1 and its file system, and links to the kernels.

GUEST_INIT := $(BUILD)/guest/init/init
INITRAMFS := $(BUILD)/guest/initramfs.cpio.gz
KERNEL_FAST := $(BUILD)/guest/kernel-fast
KERNEL_DEBUG := $(BUILD)/guest/kernel-debug
GUEST_INIT_SRCS := $(sort $(wildcard guest/init/*.c))
GUEST_INIT_OBJS := $(GUEST_INIT_SRCS:%.c=$(BUILD)/%.o)

$(GUEST_INIT_OBJS): $(BUILD)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -Iguest/init -MMD -MP -c $< -o $@

$(GUEST_INIT): $(GUEST_INIT_OBJS)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_HOST) -static -o $@ $^

$(INITRAMFS): $(GUEST_INIT) guest/mkinitramfs.sh
	$(call say,CPIO,$@)
	$(Q)guest/mkinitramfs.sh $< $@

# The cache decides whether anything has to be compiled; the link is made anew
# when the configuration or the script changed.
$(KERNEL_FAST) $(KERNEL_DEBUG): $(BUILD)/guest/kernel-%: guest/build-kernel.sh \
		$(wildcard guest/config/*.config)
	$(Q)mkdir -p $(@D)
	$(Q)dir=$$(guest/build-kernel.sh $*) && ln -sfn "$$dir" $@ && touch $@

-include $(GUEST_INIT_OBJS:.o=.d)
