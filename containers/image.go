package containers

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"signalbox/rule"
)

// kernelImage is an image made from nothing but the kernel program, known by
// its digests before any engine has it. Equal kernels give equal bytes.
type kernelImage struct {
	Kernel  rule.Digest // of the program
	ID      rule.Digest // of the image's config
	Layer   rule.Digest // of the layer
	archive []byte      // as the engine loads it
}

// labelKernel is the image label that names the kernel program inside.
const labelKernel = "signalbox.kernel"

const entrypoint = "/kernel"

type imageConfig struct {
	Architecture string         `json:"architecture"`
	Config       imageRunConfig `json:"config"`
	Created      string         `json:"created"`
	History      []imageHistory `json:"history"`
	OS           string         `json:"os"`
	RootFS       imageRootFS    `json:"rootfs"`
}

type imageRunConfig struct {
	Entrypoint []string          `json:"Entrypoint"`
	Labels     map[string]string `json:"Labels"`
	User       string            `json:"User"`
	WorkingDir string            `json:"WorkingDir"`
}

type imageHistory struct {
	Created   string `json:"created"`
	CreatedBy string `json:"created_by"`
}

type imageRootFS struct {
	Type    string        `json:"type"`
	DiffIDs []rule.Digest `json:"diff_ids"`
}

type imageManifest struct {
	Config   string   `json:"Config"`
	RepoTags []string `json:"RepoTags"`
	Layers   []string `json:"Layers"`
}

// newKernelImage makes the image archive (docker save's format) of a kernel
// program. architecture is Go's name for it.
func newKernelImage(kernel []byte, architecture string) (kernelImage, error) {
	image := kernelImage{Kernel: rule.DigestOf(kernel)}
	layer, err := tarOf(file{entrypoint[1:], 0o555, kernel})
	if err != nil {
		return kernelImage{}, fmt.Errorf("making image layer: %w", err)
	}
	image.Layer = rule.DigestOf(layer)
	const created = "1970-01-01T00:00:00Z"
	config, err := rule.Canonical(imageConfig{
		Architecture: architecture, OS: "linux", Created: created,
		Config: imageRunConfig{
			Entrypoint: []string{entrypoint}, User: fmt.Sprintf("%d:%d", uid, gid), WorkingDir: "/",
			Labels: map[string]string{labelKernel: string(image.Kernel)},
		},
		History: []imageHistory{{Created: created, CreatedBy: "signalbox kernel"}},
		RootFS:  imageRootFS{Type: "layers", DiffIDs: []rule.Digest{image.Layer}},
	})
	if err != nil {
		return kernelImage{}, err
	}
	image.ID = rule.DigestOf(config)
	image.archive, err = archiveOf(image, config, layer)
	return image, err
}

func archiveOf(image kernelImage, config, layer []byte) ([]byte, error) {
	configName, layerName := image.ID.Hex()+".json", image.Layer.Hex()+".tar"
	// The tag only keeps the image from looking unused; nothing resolves it.
	manifest, err := rule.Canonical([]imageManifest{{
		Config: configName, Layers: []string{layerName}, RepoTags: []string{"signalbox-starlark:" + image.ID.Short()},
	}})
	if err != nil {
		return nil, err
	}
	archive, err := tarOf(file{configName, 0o444, config}, file{layerName, 0o444, layer}, file{"manifest.json", 0o444, manifest})
	if err != nil {
		return nil, fmt.Errorf("making image archive: %w", err)
	}
	return archive, nil
}

type file struct {
	name string
	mode int64
	data []byte
}

// tarOf packs files with fixed owners and times.
func tarOf(files ...file) ([]byte, error) {
	var packed bytes.Buffer
	writer := tar.NewWriter(&packed)
	for _, f := range files {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
		if err := writer.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := writer.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := writer.Close()
	return packed.Bytes(), err
}

// ensure returns the engine's own name for the image, which it loads only where
// the engine has none. An engine that names images by their config has it under
// image.ID; another is searched by label, and config and layers are compared.
func (image kernelImage) ensure(ctx context.Context, d daemon) (string, error) {
	ref, err := image.find(ctx, d)
	if err != nil || ref != "" {
		return ref, err
	}
	if err := d.Load(ctx, bytes.NewReader(image.archive)); err != nil {
		return "", err
	}
	ref, err = image.find(ctx, d)
	if err == nil && ref == "" {
		err = fmt.Errorf("loading image %s: the engine took it but doesn't list it: %w", image.ID.Short(), ErrUnavailable)
	}
	return ref, err
}

// find returns the engine's name for the image, "" where it has none. One
// that carries the name but differs is an error.
func (image kernelImage) find(ctx context.Context, d daemon) (string, error) {
	facts, found, err := d.Image(ctx, string(image.ID))
	if err != nil {
		return "", err
	}
	if found {
		if difference := image.differs(facts); difference != "" {
			return "", fmt.Errorf("image %s in the engine: %s: %w", image.ID.Short(), difference, ErrEnvironmentChanged)
		}
		return facts.ID, nil
	}
	refs, err := d.Images(ctx, labelKernel+"="+string(image.Kernel))
	if err != nil {
		return "", err
	}
	for _, ref := range refs {
		facts, found, err := d.Image(ctx, ref)
		if err != nil {
			return "", err
		}
		if found && image.differs(facts) == "" {
			return facts.ID, nil
		}
	}
	return "", nil
}

// differs names the first way in which an engine's image isn't this one.
func (image kernelImage) differs(facts imageFacts) string {
	switch {
	case !slices.Equal(facts.Layers, []string{string(image.Layer)}):
		return fmt.Sprintf("layers are %q, want %q", facts.Layers, image.Layer)
	case !slices.Equal(facts.Entrypoint, []string{entrypoint}) || len(facts.Cmd) > 0:
		return fmt.Sprintf("starts %q %q, want %q", facts.Entrypoint, facts.Cmd, entrypoint)
	case len(facts.Env) > 0:
		return fmt.Sprintf("sets the environment %q", facts.Env)
	case facts.Volumes:
		return "has a VOLUME, which would stay writable"
	case facts.Healthchecked:
		return "has a health check, which would run beside the program"
	}
	return ""
}
