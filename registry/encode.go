package registry

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/rule"
)

// maxRegistry bounds registry.json, in bytes.
const maxRegistry = 64 << 20

// encode writes a state in its one form: indented, names in order, a newline at
// the end.
func (s *State) encode() ([]byte, error) {
	data, err := json.Marshal(s, json.Deterministic(true), jsontext.WithIndent("  "), json.ExperimentalSupportFormatTag(true))
	if err != nil {
		return nil, fmt.Errorf("writing registry: %w", err)
	}
	return append(data, '\n'), nil
}

// migrations[n] turns the bytes of schema n into those of schema n+1. Schema 1
// is the first.
var migrations = map[int]func([]byte) ([]byte, error){}

// parseState reads registry.json. from is the schema that the bytes had. Bytes
// of the present schema are accepted only in the form that encode writes.
func parseState(data []byte) (state *State, from int, err error) {
	if len(data) > maxRegistry {
		return nil, 0, fmt.Errorf("%d bytes: the limit is %d: %w", len(data), maxRegistry, ErrDamaged)
	}
	if from, err = schemaOf(data); err != nil {
		return nil, 0, err
	}
	for schema := from; schema < Schema; schema++ {
		migrate, ok := migrations[schema]
		if !ok {
			return nil, 0, fmt.Errorf("schema %d can't be brought to %d: %w", schema, Schema, ErrDamaged)
		}
		if data, err = migrate(data); err != nil {
			return nil, 0, fmt.Errorf("migrating from schema %d: %w", schema, err)
		}
	}
	state = &State{}
	if err := rule.Decode(data, state); err != nil {
		return nil, 0, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	again, err := state.encode()
	if err != nil || !bytes.Equal(data, again) {
		return nil, 0, fmt.Errorf("%w: not in the form that signalbox writes", ErrDamaged)
	}
	if err := state.check(); err != nil {
		return nil, 0, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	return state, from, nil
}

// schemaOf reads only the schema, so that a newer one is named as such.
func schemaOf(data []byte) (int, error) {
	var probe struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(data, &probe); err != nil {
		return 0, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	if probe.Schema > Schema {
		return 0, fmt.Errorf("%w: schema %d, this program knows %d", ErrNewerSchema, probe.Schema, Schema)
	}
	return probe.Schema, nil
}
