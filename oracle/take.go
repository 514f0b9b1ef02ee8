package oracle

import (
	"signalbox/rule"
)

// take judges the first answer to a question and keeps what is needed of it.
func (a *asker) take(q question, got cell, reply rule.TriggerReply) {
	if q.doc >= 0 {
		a.takeDoc(q.doc, got, reply)
		return
	}
	a.takeProbe(q.probe, got, reply)
}

func (a *asker) takeDoc(doc int, got cell, reply rule.TriggerReply) {
	a.row.cells[doc] = got
	own := a.row.own[doc]
	if kind, refused := judge(got, own); refused {
		a.refuseDoc(doc, Refusal{Kind: kind, Detail: said(reply), Got: reply.Args})
	}
	if own && got == cellAbstain {
		a.row.report.Abstained++
	}
	if !own || got != cellMatch {
		return
	}
	if a.kept += len(reply.Args); a.kept > a.limit {
		a.row.cells[doc] = cellFailed
		a.refuseDoc(doc, Refusal{Kind: KindArgsBytes, Detail: "the args of all matches together are more than the host keeps"})
		return
	}
	a.row.args[doc] = reply.Args
}

// judge returns why a trigger's answer about a case's document refuses its
// rule, where it does.
func judge(got cell, own bool) (Kind, bool) {
	switch got {
	case cellDisagrees:
		return KindGuard, true
	case cellTimeout, cellSchema, cellFailed:
		return KindTrigger, true
	case cellMatch:
		return KindMatch, !own
	case cellAbstain:
		return KindAbstain, !own
	}
	return "", false
}

// said explains a reply to a maintainer.
func said(reply rule.TriggerReply) string {
	text := string(reply.Verdict)
	if reply.Failure != "" {
		text = string(reply.Failure)
	}
	if reply.Detail != "" {
		return text + ": " + reply.Detail
	}
	if reply.Note != "" {
		return text + ": " + reply.Note
	}
	return text
}

// refuseDoc refuses the rule on every case that has the document.
func (a *asker) refuseDoc(doc int, r Refusal) {
	r.Rule = a.row.report.Rule
	for _, c := range a.plan.docCases[doc] {
		a.row.finds.onCase(a.plan.cases[c], r)
		if r.Kind == KindMatch || r.Kind == KindAbstain {
			a.row.report.Foreign++
		}
	}
}

func (a *asker) takeProbe(index int, got cell, reply rule.TriggerReply) {
	p := a.plan.probes[index]
	if got == cellDisagrees {
		a.refuseProbe(p, Refusal{Kind: KindGuard, Detail: said(reply), Got: reply.Args})
	}
	a.row.probed = append(a.row.probed, byte(got))
	if p.family != a.row.family {
		if got == cellMatch {
			a.row.report.ForeignProbes++
		}
		return
	}
	a.row.report.Probes++
	switch got {
	case cellTimeout, cellSchema, cellFailed:
		a.row.report.ProbesFailed++
	case cellMatch:
		a.row.report.ProbesMatched++
		a.compareProbe(p, reply)
	}
}

// compareProbe refuses a match whose args are those of the original: what was
// changed has been ignored.
func (a *asker) compareProbe(p probe, reply rule.TriggerReply) {
	original, matched := a.row.args[p.origin]
	same := matched && original == reply.Args
	for _, c := range a.plan.docCases[p.origin] {
		stated := a.plan.cases[c].Args
		same = same || stated.Present() && a.plan.cases[c].Family == p.family && stated == reply.Args
	}
	if !same {
		return
	}
	a.row.report.ProbesIgnored++
	a.refuseProbe(p, Refusal{
		Kind: KindProbe, Detail: "matches with the original's args", Got: reply.Args,
	})
}

// refuseProbe refuses the rule on a probe, under the case that it was made of.
func (a *asker) refuseProbe(p probe, r Refusal) {
	r.Rule, r.Probe = a.row.report.Rule, p.Kind+": "+p.Text
	for _, c := range a.plan.docCases[p.origin] {
		if a.plan.cases[c].Family == p.family && !a.plan.cases[c].Fallback {
			a.row.finds.onCase(a.plan.cases[c], r)
			return
		}
	}
}

// differs refuses a rule whose repeat gave another answer.
func (a *asker) differs(q question, reply rule.TriggerReply) {
	refusal := Refusal{Kind: KindRepeats, Detail: "the trigger's repeat says " + said(reply), Got: reply.Args}
	if q.doc < 0 {
		a.refuseProbe(a.plan.probes[q.probe], refusal)
		return
	}
	a.row.cells[q.doc] = cellDiffers
	a.refuseDoc(q.doc, refusal)
}
