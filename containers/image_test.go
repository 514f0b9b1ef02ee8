package containers

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"signalbox/rule"
)

func TestImageIsReproducible(t *testing.T) {
	one, err := newKernelImage([]byte("kernel"), "amd64")
	if err != nil {
		t.Fatal(err)
	}
	two, err := newKernelImage([]byte("kernel"), "amd64")
	if err != nil {
		t.Fatal(err)
	}
	if one.ID != two.ID || !bytes.Equal(one.archive, two.archive) {
		t.Error("one kernel gave two images")
	}
	// A golden value: the ID is the same on every host.
	if want := rule.Digest("sha256:979dc0a457d65a4b109e7fa2c020b2055f8a3932e614dfebeb3d8307de6ad893"); one.ID != want {
		t.Errorf("image ID %s, want %s", one.ID, want)
	}
	other, err := newKernelImage([]byte("Kernel"), "amd64")
	if err != nil {
		t.Fatal(err)
	}
	if other.ID == one.ID || other.Layer == one.Layer || other.Kernel == one.Kernel {
		t.Error("two kernels share a name")
	}
}

// TestImageHoldsTheKernelAlone: no other file, no folder that a tmpfs is
// mounted on, fixed owners and times.
func TestImageHoldsTheKernelAlone(t *testing.T) {
	image, err := newKernelImage([]byte("kernel"), "amd64")
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(bytes.NewReader(image.archive))
	var names []string
	for {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
		if header.ModTime.Unix() != 0 || header.Uid != 0 || header.Uname != "" {
			t.Errorf("%s has time %v, owner %d %q", header.Name, header.ModTime, header.Uid, header.Uname)
		}
		if !strings.HasSuffix(header.Name, ".tar") {
			continue
		}
		layer := tar.NewReader(archive)
		first, err := layer.Next()
		if err != nil || first.Name != "kernel" || first.Mode != 0o555 {
			t.Errorf("layer holds %+v, %v", first, err)
		}
		if second, err := layer.Next(); err != io.EOF {
			t.Errorf("layer holds %+v too", second)
		}
	}
	if len(names) != 3 {
		t.Errorf("archive holds %q", names)
	}
}

// store is an engine's image store that names images in its own way.
type store struct {
	daemon
	image  imageFacts
	name   string
	loads  int
	loaded bool
	err    error
}

func (s *store) Image(_ context.Context, ref string) (imageFacts, bool, error) {
	return s.image, s.loaded && ref == s.name, s.err
}
func (s *store) Images(context.Context, string) ([]string, error) {
	return []string{"gone", s.name}, nil
}
func (s *store) Load(context.Context, io.Reader) error {
	s.loads++
	s.loaded = true
	return nil
}

// TestImageEnsure: an image is loaded once, and found under whatever name the
// engine gives it; one that differs is never used.
func TestImageEnsure(t *testing.T) {
	image, err := newKernelImage([]byte("kernel"), "amd64")
	if err != nil {
		t.Fatal(err)
	}
	right := imageFacts{ID: "named", Layers: []string{string(image.Layer)}, Entrypoint: []string{entrypoint}}
	for _, name := range []string{string(image.ID), "sha256:of-a-manifest"} {
		s := &store{name: name, image: right}
		for range 2 {
			if ref, err := image.ensure(t.Context(), s); ref != "named" || err != nil {
				t.Errorf("%s: ref %q, err %v", name, ref, err)
			}
		}
		if s.loads != 1 {
			t.Errorf("%s: loaded %d times", name, s.loads)
		}
	}
	for what, spoil := range map[string]func(*imageFacts){
		"layers":       func(f *imageFacts) { f.Layers = append(f.Layers, "sha256:more") },
		"starts":       func(f *imageFacts) { f.Cmd = []string{"sh"} },
		"environment":  func(f *imageFacts) { f.Env = []string{"A=b"} },
		"VOLUME":       func(f *imageFacts) { f.Volumes = true },
		"health check": func(f *imageFacts) { f.Healthchecked = true },
	} {
		s := &store{name: string(image.ID), image: right, loaded: true}
		spoil(&s.image)
		if _, err := image.ensure(t.Context(), s); !errors.Is(err, ErrEnvironmentChanged) || !strings.Contains(fmt.Sprint(err), what) {
			t.Errorf("%s: err = %v, want one that names it", what, err)
		}
		s.name = "sha256:of-a-manifest"
		if ref, err := image.ensure(t.Context(), s); err == nil {
			t.Errorf("%s: used %q", what, ref)
		}
	}
	s := &store{err: fmt.Errorf("down: %w", ErrUnavailable)}
	if _, err := image.ensure(t.Context(), s); !errors.Is(err, ErrUnavailable) {
		t.Errorf("engine down: %v", err)
	}
}
