package containers

import (
	"embed"
	"io/fs"
)

// packed holds the kernel program, where the build has put it there.
//
//go:embed packed
var packed embed.FS

// KernelAvailable says whether this binary carries the kernel program, without
// which it can run nothing.
func KernelAvailable() bool { return len(packedKernel()) > 0 }

func packedKernel() []byte {
	kernel, err := fs.ReadFile(packed, "packed/kernel")
	if err != nil {
		return nil
	}
	return kernel
}
