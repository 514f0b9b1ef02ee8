package rule

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Digest names immutable bytes: "sha256:" and 64 lower-case hexadecimal digits.
// The zero value names nothing.
type Digest string

const digestPrefix = "sha256:"

// DigestOf returns the digest of data.
func DigestOf(data []byte) Digest {
	sum := sha256.Sum256(data)
	return Digest(digestPrefix + hex.EncodeToString(sum[:]))
}

// DigestJSON returns the digest of v's canonical JSON.
func DigestJSON(v any) (Digest, error) {
	data, err := Canonical(v)
	if err != nil {
		return "", err
	}
	return DigestOf(data), nil
}

// ParseDigest returns s as a Digest, or an error that quotes it.
func ParseDigest(s string) (Digest, error) {
	hexes, ok := strings.CutPrefix(s, digestPrefix)
	if !ok || len(hexes) != 2*sha256.Size || strings.ToLower(hexes) != hexes {
		return "", fmt.Errorf("digest %q: want sha256: and 64 lower-case hexadecimal digits", s)
	}
	if _, err := hex.DecodeString(hexes); err != nil {
		return "", fmt.Errorf("digest %q: %v", s, err)
	}
	return Digest(s), nil
}

// Hex returns the digits without the algorithm, as file names use them.
func (d Digest) Hex() string { return strings.TrimPrefix(string(d), digestPrefix) }

// Short returns the first twelve digits, for people.
func (d Digest) Short() string {
	hexes := d.Hex()
	return hexes[:min(12, len(hexes))]
}

// UnmarshalText accepts "" and what ParseDigest accepts.
func (d *Digest) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*d = ""
		return nil
	}
	parsed, err := ParseDigest(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}
