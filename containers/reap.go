package containers

import (
	"context"
	"errors"
)

// Reap removes what a crash left behind and returns how many containers that
// were. Only containers of this workspace are touched, and of those only ones
// from another boot or whose owner process is dead.
func (e *Engine) Reap(ctx context.Context) (int, error) {
	found, err := e.daemon.List(ctx, labelWorkspace+"="+e.labels[labelWorkspace])
	if err != nil {
		return 0, err
	}
	reaped := 0
	var errs []error
	for _, c := range found {
		if !abandoned(c.Labels, e.labels[labelBoot]) {
			continue
		}
		if err := destroy(ctx, e.daemon, c.ID, nil); err != nil {
			errs = append(errs, err)
			continue
		}
		reaped++
	}
	return reaped, errors.Join(errs...)
}

// abandoned says whether nobody can still own a container with the labels.
// Labels that can't be read are left alone.
func abandoned(labels map[string]string, boot string) bool {
	if labels[labelBoot] == "" || labels[labelOwner] == "" || labels[labelRole] == "" {
		return false
	}
	if labels[labelBoot] != boot {
		return true
	}
	owner, err := parseProcess(labels[labelOwner])
	return err == nil && owner.dead()
}
