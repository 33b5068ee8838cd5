package hardware

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// cards finds the GPUs and describes them for the document and as evidence.
func (d *detector) cards(ctx context.Context) {
	d.evidence = []map[string]Fact{}
	if d.cfg.GPUs == nil {
		d.noCards("no source of GPUs was asked")
		return
	}
	cards, source, err := d.cfg.GPUs(ctx)
	switch {
	case err != nil:
		d.noCards(err.Error())
		return
	case len(cards) == 0:
		d.noCards(source + " lists no card")
		return
	}
	slots := make([]Slot, 0, len(cards))
	var aliases []string
	for _, c := range cards {
		d.evidence = append(d.evidence, cardFacts(c, source))
		slot := Slot{GPUName: strings.TrimSpace(c["name"]), Count: 1}
		if a, ok := Canonical(slot.GPUName); ok {
			if a.Canonical != slot.GPUName {
				aliases = append(aliases, fmt.Sprintf("; the driver says %q (%s)", slot.GPUName, a.Source))
			}
			slot.GPUName = a.Canonical
		}
		if mib, ok := number(c, "memory.total"); ok {
			slot.VRAMGb = gib(mib * (1 << 20))
		}
		slots = append(slots, slot)
	}
	note := source
	if len(aliases) > 0 {
		note += aliases[0]
	}
	d.place(merge(slots), note)
	d.power(cards, source)
}

// noCards marks every field of a card unknown.
func (d *detector) noCards(why string) {
	for _, f := range []string{"gpuName", "gpuCount", "vramGb", "powerWatts"} {
		d.fields[f] = unknown(why)
	}
}

// merge counts equal cards together, in order.
func merge(slots []Slot) []Slot {
	var kinds []Slot
next:
	for _, s := range slots {
		for i := range kinds {
			if kinds[i].GPUName == s.GPUName && kinds[i].VRAMGb == s.VRAMGb {
				kinds[i].Count++
				continue next
			}
		}
		kinds = append(kinds, s)
	}
	return kinds
}

// place writes one kind of card flat and several as slots.
func (d *detector) place(kinds []Slot, source string) {
	if len(kinds) > 1 {
		d.doc.GPUs = kinds
		d.fields["gpus"] = measured(len(kinds), "", source)
		return
	}
	k := kinds[0]
	d.doc.GPUName, d.doc.GPUCount, d.doc.VRAMGb = k.GPUName, k.Count, k.VRAMGb
	d.fields["gpuName"] = text(k.GPUName, source)
	d.fields["gpuCount"] = measured(k.Count, "", source)
	d.fields["vramGb"] = unknown(source + " gives no memory size")
	if k.VRAMGb > 0 {
		d.fields["vramGb"] = measured(k.VRAMGb, "GiB", source)
	}
}

// power takes the card's limit. For several cards the leaderboard does not say
// whether the field means one or all, so it is left out.
func (d *detector) power(cards []map[string]string, source string) {
	if len(cards) > 1 {
		d.fields["powerWatts"] = unknown("several cards: the field does not say whether it means one or all; see the cards' own limits")
		return
	}
	for _, key := range []string{"enforced.power.limit", "power.limit", "power.default_limit"} {
		if w, ok := number(cards[0], key); ok && w > 0 {
			d.doc.PowerWatts = math.Round(w)
			d.fields["powerWatts"] = measured(d.doc.PowerWatts, "W", source+" "+key)
			return
		}
	}
	d.fields["powerWatts"] = unknown(source + " gives no power limit")
}

func number(card map[string]string, key string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(card[key]), 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// evidenceOf lists what a card tells, our name beside the source's.
var evidenceOf = []struct{ name, key, unit string }{
	{"name", "name", ""},
	{"driver", "driver_version", ""},
	{"vbios", "vbios_version", ""},
	{"memoryMiB", "memory.total", "MiB"},
	{"memoryBusWidth", "memory.bus_width", "bit"},
	{"powerLimit", "enforced.power.limit", "W"},
	{"powerLimitDefault", "power.default_limit", "W"},
	{"powerLimitMax", "power.max_limit", "W"},
	{"smClockMax", "clocks.max.sm", "MHz"},
	{"memoryClockMax", "clocks.max.memory", "MHz"},
	{"ecc", "ecc.mode.current", ""},
	{"mig", "mig.mode.current", ""},
	{"persistence", "persistence_mode", ""},
	{"computeCapability", "compute_cap", ""},
	{"pcieGeneration", "pcie.link.gen.current", ""},
	{"pcieGenerationMax", "pcie.link.gen.max", ""},
	{"pcieWidth", "pcie.link.width.current", ""},
	{"pcieWidthMax", "pcie.link.width.max", ""},
	{"virtualization", "virtualization_mode", ""},
}

// cardFacts is a card as evidence. Its UUID would let readers tell one card
// from another over results, which is wanted, and name it to its owner's
// cloud, which is not: so it is hashed.
func cardFacts(card map[string]string, source string) map[string]Fact {
	facts := map[string]Fact{}
	for _, e := range evidenceOf {
		v, present := card[e.key]
		switch n, isNumber := number(card, e.key); {
		case !present:
			facts[e.name] = unknown(source + " does not report " + e.key)
		case e.unit != "" && isNumber:
			facts[e.name] = measured(n, e.unit, source)
		default:
			facts[e.name] = text(v, source)
		}
	}
	facts["uuidHash"] = unknown(source + " does not report uuid")
	if id := card["uuid"]; id != "" {
		facts["uuidHash"] = measured(HashID(id), "", source)
	}
	return facts
}

// HashID returns the form in which an identifier may be published: the first
// 16 hexadecimal digits of its SHA-256.
func HashID(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}
