package star

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/crc32"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// The weak digests are there since people's tasks ask for them; nothing here is
// trusted to protect anything.
var hashFunctions = map[string]function{
	"sha256": digest(sha256.New),
	"sha1":   digest(sha1.New),
	"md5":    digest(md5.New),
	"crc32":  digest(func() hash.Hash { return crc32.NewIEEE() }),
}

func digest(algorithm func() hash.Hash) function {
	return func(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var s octets
		if err := starlark.UnpackArgs(b.Name(), args, kwargs, "s", &s); err != nil {
			return nil, err
		}
		charge(thread, 4*len(s))
		h := algorithm()
		h.Write([]byte(s))
		return starlark.String(hex.EncodeToString(h.Sum(nil))), nil
	}
}

var base64Functions = map[string]function{
	"encode":     encodeWith(base64.StdEncoding),
	"decode":     decodeWith(base64.StdEncoding.Strict()),
	"url_encode": encodeWith(base64.URLEncoding),
	"url_decode": decodeWith(base64.URLEncoding.Strict(), base64.RawURLEncoding.Strict()),
}

func encodeWith(alphabet *base64.Encoding) function {
	return func(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var s octets
		if err := starlark.UnpackArgs(b.Name(), args, kwargs, "s", &s); err != nil {
			return nil, err
		}
		return written(thread, alphabet.EncodeToString([]byte(s)))
	}
}

// decodeWith takes text in any of the alphabets.
func decodeWith(alphabets ...*base64.Encoding) function {
	return func(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var s text
		var fallback starlark.Value
		if err := starlark.UnpackArgs(b.Name(), args, kwargs, "s", &s, "default?", &fallback); err != nil {
			return nil, err
		}
		charge(thread, len(s))
		for _, alphabet := range alphabets {
			decoded, err := alphabet.DecodeString(string(s))
			if err == nil && utf8.Valid(decoded) && !strings.ContainsAny(string(s), "\r\n") {
				return starlark.String(decoded), nil
			}
		}
		return orDefault(nil, fmt.Errorf("%s: not the base64 of UTF-8 text", b.Name()), fallback)
	}
}
