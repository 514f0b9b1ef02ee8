package rule

// Serial counts every commit of the registry and binds the one before it, so
// that two registries with one number but different pasts differ.
type Serial struct {
	N    uint64 `json:"n"`
	Prev Digest `json:"prev,omitzero"`
}

// Generation counts the changes of what routing depends on: suite, mapping,
// policy, a member's environment, disabling, activation.
type Generation uint64
