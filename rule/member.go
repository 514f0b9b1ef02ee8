package rule

import "slices"

// Member is one rule revision of a collection, with the environment that its
// programs run in.
type Member struct {
	Rule        Name   `json:"rule"`
	Revision    Digest `json:"revision"`
	Environment Digest `json:"environment"`
}

// Collection is a set of members in order of their rules' names, so that equal
// sets have equal digests.
type Collection []Member

// NewCollection returns the members in order.
func NewCollection(members ...Member) Collection {
	sorted := slices.Clone(members)
	slices.SortFunc(sorted, func(a, b Member) int {
		if a.Rule != b.Rule {
			return compare(a.Rule, b.Rule)
		}
		return compare(a.Revision, b.Revision)
	})
	return sorted
}

func compare[T ~string](a, b T) int {
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}

// Digest names the collection.
func (c Collection) Digest() Digest {
	digest, err := DigestJSON(c)
	if err != nil {
		return ""
	}
	return digest
}

// Mapping says which rules serve a family. A family that is absent is served by
// none.
type Mapping map[Family][]Name
