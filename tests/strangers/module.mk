# SPDX-License-Identifier: MIT
# Tests that nobody here wrote: selftests from the kernel's source, built as they are.

STRANGERS_DIR	:= $(BUILD)/tests/strangers
STRANGERS_SOURCES := kselftest.h dmabuf-heaps/dmabuf-heap.c drivers/dma-buf/udmabuf.c
STRANGERS	:= $(STRANGERS_DIR)/dmabuf-heap $(STRANGERS_DIR)/udmabuf

# The kernel's build has no selftests, so they come out of the same tarball or tree.
$(STRANGERS_DIR)/source: tests/strangers/take-selftests.sh tests/strangers/module.mk \
		$(BUILD)/guest/kernel-fast.id
	$(call say,UNPACK,$@)
	$(Q)tests/strangers/take-selftests.sh $@ $(STRANGERS_SOURCES)

# They include <drm/drm.h>, which libdrm has in a folder of its own.
$(STRANGERS_DIR)/include/drm:
	$(Q)mkdir -p $(@D)
	$(Q)ln -sfn "$$(pkg-config --variable=includedir libdrm)/libdrm" $@

STRANGERS_CC	= $(CC) -O2 -isystem $(STRANGERS_DIR)/include

$(STRANGERS_DIR)/importer.o: tests/strangers/importer.c | $(STRANGERS_DIR)/include/drm
	$(call say,CC,$@)
	$(Q)$(CC) $(CFLAGS_HOST) -isystem $(STRANGERS_DIR)/include -MMD -MP -c -o $@ $<

$(STRANGERS_DIR)/dmabuf-heap: $(STRANGERS_DIR)/importer.o $(STRANGERS_DIR)/source
	$(call say,LD,$@)
	$(Q)$(STRANGERS_CC) -Wl,--wrap=ioctl -o $@ $(STRANGERS_DIR)/source/dmabuf-heaps/dmabuf-heap.c $<

$(STRANGERS_DIR)/udmabuf: $(STRANGERS_DIR)/source
	$(call say,LD,$@)
	$(Q)$(STRANGERS_CC) -o $@ $(STRANGERS_DIR)/source/drivers/dma-buf/udmabuf.c

-include $(if $(BUILDING),$(STRANGERS_DIR)/importer.d)
