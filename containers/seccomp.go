package containers

import (
	"embed"
	"fmt"

	"signalbox/rule"
)

// The profiles are allow lists of what the kernel program's roles were seen to
// need, with what runc itself needs between loading the filter and exec.
// statx is there for the editor where openat2 isn't: without both it opens
// nothing. Of what the editor can call, fchown and kill stay refused: files in the
// container have one owner, and what an editor left behind goes with it.
//
//go:embed seccomp/*.json
var profileFiles embed.FS

var roles = []rule.Role{rule.RoleTrigger, rule.RoleExecutor, rule.RoleEditor}

// profile returns a role's seccomp profile as text.
func profile(role rule.Role) (string, error) {
	text, err := profileFiles.ReadFile("seccomp/" + string(role) + ".json")
	if err != nil {
		return "", fmt.Errorf("no seccomp profile for role %q", role)
	}
	return string(text), nil
}

// profileDigests names the profile of each role.
func profileDigests() (map[rule.Role]rule.Digest, error) {
	digests := make(map[rule.Role]rule.Digest, len(roles))
	for _, role := range roles {
		text, err := profile(role)
		if err != nil {
			return nil, err
		}
		digests[role] = rule.DigestOf([]byte(text))
	}
	return digests, nil
}

// profileText returns the profile that the digest names.
func profileText(digest rule.Digest) (string, error) {
	for _, role := range roles {
		text, err := profile(role)
		if err != nil {
			return "", err
		}
		if rule.DigestOf([]byte(text)) == digest {
			return text, nil
		}
	}
	return "", fmt.Errorf("seccomp profile %q is not one of this program's", digest)
}
