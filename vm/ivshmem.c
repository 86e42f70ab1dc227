// SPDX-License-Identifier: MIT
/*
 * The server's side of QEMU's ivshmem protocol, for one client that never
 * disconnects: 64-bit little-endian numbers over a stream socket, some with a
 * descriptor.
 *
 * The server announces the GPU's doorbell before the shared memory.  The shared
 * memory ends the part that QEMU reads while it creates the device, so the guest
 * never sees a device whose doorbell is not connected yet.  The launcher's own
 * vectors have to follow the memory; an interrupt raised before QEMU has read them
 * waits in its eventfd.
 */
#include <errno.h>
#include <string.h>

#include "vm_priv.h"

#define IVSHMEM_PROTOCOL_VERSION	0
#define IVSHMEM_SHARED_MEMORY		(-1)

static bool send_message(int sock, int64_t value, int fd)
{
	return vm_send_fd(sock, &value, sizeof(value), fd);
}

/*
 * Sends everything at once: it is small enough to wait in the socket until the
 * device is plugged.
 */
enum vm_status vm_ivshmem_serve(struct vm_gpu *gpu)
{
	int sock = gpu->ivshmem_fd;
	bool ok;

	ok = send_message(sock, IVSHMEM_PROTOCOL_VERSION, -1) &&
	     send_message(sock, VM_PEER_QEMU, -1) &&
	     send_message(sock, VM_PEER_SIM, gpu->doorbell) &&
	     send_message(sock, IVSHMEM_SHARED_MEMORY, gpu->bar2_fd);
	for (int i = 0; i < VM_VECTORS && ok; i++)
		ok = send_message(sock, VM_PEER_QEMU, gpu->vectors[i]);
	if (!ok)
		return vm_fail(gpu->vm, VM_HOST, "ivshmem server: %s", strerror(errno));
	return VM_OK;
}
