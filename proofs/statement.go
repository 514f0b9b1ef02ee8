package proofs

import (
	"bytes"
	"fmt"

	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/types/known/structpb"

	"signalbox/rule"
)

// statement is an in-toto Statement v1 with our predicate.
type statement struct {
	Type          string    `json:"_type"`
	Subject       []subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// subject is an in-toto ResourceDescriptor: a rule's name and its revision.
type subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// newStatement returns the statement of a predicate in its normal form.
func newStatement(p Predicate) statement {
	p = p.normal()
	s := statement{Type: intoto.StatementTypeUri, PredicateType: PredicateType, Predicate: p}
	for _, member := range p.Members {
		digest := map[string]string{"sha256": member.Revision.Hex()}
		s.Subject = append(s.Subject, subject{Name: string(member.Rule), Digest: digest})
	}
	return s
}

// encode checks the statement and returns the bytes that are signed.
func (s statement) encode() ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return rule.Canonical(s)
}

func (s statement) check() error {
	if s.Type != intoto.StatementTypeUri {
		return fmt.Errorf("statement type %q: want %q", s.Type, intoto.StatementTypeUri)
	}
	if s.PredicateType != PredicateType {
		return fmt.Errorf("predicate type %q: want %q", s.PredicateType, PredicateType)
	}
	if err := s.Predicate.check(); err != nil {
		return err
	}
	return s.checkForm()
}

// checkForm has the statement judged by in-toto's own validation.
func (s statement) checkForm() error {
	form := &intoto.Statement{Type: s.Type, PredicateType: s.PredicateType, Predicate: &structpb.Struct{}}
	for _, named := range s.Subject {
		form.Subject = append(form.Subject, &intoto.ResourceDescriptor{Name: named.Name, Digest: named.Digest})
	}
	return form.Validate()
}

// decodeStatement reads a payload that a signature covers. Writing what was
// read has to give the same bytes: so a missing, repeated, reordered or
// respelled part is refused, and the subjects are those of the members.
func decodeStatement(payload []byte) (Predicate, error) {
	var read statement
	if err := rule.Decode(payload, &read); err != nil {
		return Predicate{}, err
	}
	if err := read.check(); err != nil {
		return Predicate{}, err
	}
	again, err := newStatement(read.Predicate).encode()
	if err != nil {
		return Predicate{}, err
	}
	if !bytes.Equal(payload, again) {
		return Predicate{}, fmt.Errorf("the payload isn't in the form that is signed, or its subjects aren't its members")
	}
	return read.Predicate, nil
}
