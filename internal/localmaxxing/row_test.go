package localmaxxing_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lmxbench/internal/localmaxxing"
)

// siteRow has the shape of a row of /api/leaderboard; its figures are invented.
const siteRow = `{
  "id": "cm0example1", "modelId": "cmmodel", "status": "APPROVED", "createdAt": "2026-09-02T11:31:01.304Z",
  "promptTokens": 304, "outputTokens": 1024, "contextLength": 8192, "batchSize": 1, "prefillTokens": null,
  "ttftMs": 125.5, "tokSOut": 304.89, "tokSPrefill": 4460, "tokSTotal": null, "peakVramGb": 87.9,
  "gpuPowerWatts": [126.1, 101.4], "totalPowerWatts": 227.5, "hardwareCost": null, "verifiedRun": true,
  "promptSha256": "9000EDAADB16FC77AB78B39917245A03D4D7585C3BA770CB045A47A0E0683445",
  "model": {"hfId": "example-org/Tiny-1B-FP8", "displayName": "Tiny", "baseModel": {"hfId": "example-org/Tiny-1B"}},
  "hardware": {"hwClass": "DISCRETE_GPU", "gpuName": "RTX PRO 6000 Blackwell", "gpuCount": 2, "vramGb": 96,
    "isHeterogeneousGpu": false, "chipVendor": null, "gpuSlots": []},
  "engine": {"engineName": "sglang", "engineVersion": null, "quantization": "NVFP4", "backend": "cuda"},
  "engineFlags": {"concurrency": null, "specDecoding": true, "specMethod": "dflash", "specNumTokens": 64, "mtpEnabled": false},
  "user": {"name": "someone", "username": null, "verified": true}, "reactions": []
}`

func TestParseRow(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 9, 2, 11, 31, 1, 304e6, time.UTC)
	for _, c := range []struct {
		why, json string
		want      localmaxxing.Row
	}{
		{"a row of the site, whose user's badge is not the run's", siteRow, localmaxxing.Row{
			ID: "cm0example1", HFID: "example-org/Tiny-1B-FP8", BaseHFID: "example-org/Tiny-1B",
			Engine: "sglang", Backend: "cuda", Quantization: "NVFP4", Speculation: "dflash k=64",
			Hardware: localmaxxing.Hardware{Name: "RTX PRO 6000 Blackwell", Count: ptr(2)},
			Streams:  ptr(1), PromptTokens: ptr(304), OutputTokens: ptr(1024), ContextLength: ptr(8192),
			TokSOut: ptr(304.89), TokSPrefill: ptr(4460.0), TTFT: ptr(125500 * time.Microsecond),
			PromptSHA256: "9000edaadb16fc77ab78b39917245a03d4d7585c3ba770cb045a47a0e0683445",
			Verified:     ptr(true), PowerWatts: ptr(227.5), PeakVRAMGB: ptr(87.9),
			User: "someone", Status: "APPROVED", SubmittedAt: at,
		}},
		{"a verified user says nothing about the run", `{"hfId":"a/b","user":{"verified":true}}`, localmaxxing.Row{HFID: "a/b"}},
		{"a line of a scoreboard", `{"dir":"x__c1","id":"cm2","hfId":"a/b-FP8","hw":"NVIDIA B200","gpuCount":1,"engine":"vllm","quant":"FP8",
		  "conc":1,"speclabel":" +mtp","tokSOut":383,"verified":false,"url":"https://site.example/runs/cm2","at":"2026-09-06 09:14Z",
		  "board":"a/b","rank":2,"total":79,"top":"407 · RTX 5090","rank_c1":null,"total_c1":69}`, localmaxxing.Row{
			ID: "cm2", Name: "x__c1", URL: "https://site.example/runs/cm2", Board: "a/b", HFID: "a/b-FP8",
			Engine: "vllm", Quantization: "FP8", Speculation: "mtp", Hardware: localmaxxing.Hardware{Name: "NVIDIA B200", Count: ptr(1)},
			Streams: ptr(1), TokSOut: ptr(383.0), Verified: ptr(false), SubmittedAt: time.Date(2026, 9, 6, 9, 14, 0, 0, time.UTC),
			All: localmaxxing.Standing{Rank: 2, Of: 79}, Single: localmaxxing.Standing{Of: 69},
		}},
		{"a payload, whose watts are one for each card", `{"payload":{"hfId":"a/b","engineName":"llama.cpp","quantization":"Q4","gpuPowerWatts":[100,50.5],
		  "engineFlags":{"concurrency":4,"mtpEnabled":true,"maxTokens":512},"batchSize":4,"hardware":{"gpuName":"X"}}}`, localmaxxing.Row{
			HFID: "a/b", Engine: "llama.cpp", Quantization: "Q4", Speculation: "MTP", PowerWatts: ptr(150.5),
			Streams: ptr(4), MaxTokens: ptr(512), Hardware: localmaxxing.Hardware{Name: "X"},
		}},
		{"a batch of one and 64 at once are 64 streams", `{"hfId":"a/b","batchSize":1,"engineFlags":{"concurrency":64}}`, localmaxxing.Row{HFID: "a/b", Streams: ptr(64)}},
		{"a machine of two kinds of card", `{"hfId":"a/b","hardware":{"gpuSlots":[{"gpuName":"RTX 3060"},{"gpuName":"RTX 5060 Ti","count":2}]}}`, localmaxxing.Row{
			HFID: "a/b", Hardware: localmaxxing.Hardware{Name: "RTX 3060 + RTX 5060 Ti", Count: ptr(3)},
		}},
		{"a chip with unified memory", `{"hfId":"a/b","hardware":{"hwClass":"UNIFIED","chipVendor":"Apple","chipFamily":"M5","chipVariant":"Max","unifiedMemoryGb":128}}`, localmaxxing.Row{
			HFID: "a/b", Hardware: localmaxxing.Hardware{Name: "Apple M5 Max 128 GB"},
		}},
		{"a processor", `{"hfId":"a/b","hardware":{"hwClass":"CPU_ONLY","cpu":"EPYC 9654"}}`, localmaxxing.Row{HFID: "a/b", Hardware: localmaxxing.Hardware{Name: "EPYC 9654"}}},
		{"nulls are nothing", `{"hfId":"a/b","tokSOut":null,"batchSize":null,"hardware":null,"engine":null,"ttftMs":null}`, localmaxxing.Row{HFID: "a/b"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			got, notes, err := localmaxxing.ParseRow([]byte(c.json))
			if err != nil || len(notes) > 0 {
				t.Fatalf("error %v, notes %q", err, notes)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			again(t, got)
		})
	}
}

// again writes a row and reads it back.
func again(t *testing.T, row localmaxxing.Row) {
	t.Helper()
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	if row.HFID == "" && row.TokSOut == nil {
		return // no row would be made of it
	}
	got, notes, err := localmaxxing.ParseRow(text)
	if err != nil || len(notes) > 0 {
		t.Fatalf("%s: error %v, notes %q", text, err, notes)
	}
	if d := cmp.Diff(row, got); d != "" {
		t.Errorf("%s: written and read (-want +got):\n%s", text, d)
	}
}

func TestValuesThatCannotBeMeantAreLeftOutAndNoted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, member, note string }{
		{"a rate of nothing", `"tokSOut":0`, "tokSOut is 0, want a number above 0"},
		{"a negative rate", `"tokSOut":-3`, "tokSOut is -3"},
		{"a rate beyond all floats", `"tokSOut":1e999`, "tokSOut is 1e999"},
		{"a rate in words", `"tokSOut":"fast"`, "tokSOut is a text, want a number"},
		{"half a token", `"outputTokens":512.5`, "outputTokens is 512.5, want a whole number from 1"},
		{"no streams", `"batchSize":0`, "batchSize is 0, want a whole number from 1"},
		{"a number for a name", `"quantization":4`, "quantization is a number, want a text"},
		{"an hour to the first token", `"ttftMs":3.6e12`, "ttftMs is 3.6e+12, which is no time to a first token"},
		{"a hash that is cut", `"promptSha256":"9000edaa"`, "promptSha256 is no sha256 in hex"},
		{"watts that are no list", `"gpuPowerWatts":[100,-1]`, "gpuPowerWatts is no list of numbers above 0"},
		{"place 9 of 3", `"rank":9,"total":3`, "rank is 9 of 3"},
		{"a time of day", `"createdAt":"noon"`, `"noon" is no time`},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			got, notes, err := localmaxxing.ParseRow([]byte(`{"hfId":"a/b",` + c.member + `}`))
			if err != nil || len(notes) != 1 || !strings.Contains(notes[0], c.note) {
				t.Errorf("got error %v and notes %q, want %q", err, notes, c.note)
			}
			if d := cmp.Diff(localmaxxing.Row{HFID: "a/b"}, got); d != "" {
				t.Errorf("something was kept (-want +got):\n%s", d)
			}
		})
	}
}

func TestTextOfStrangersCannotDriveATerminal(t *testing.T) {
	t.Parallel()
	got, _, err := localmaxxing.ParseRow([]byte(`{"hfId":"a/\u001b[2Jb\n\u202ec","quantization":"` + strings.Repeat("ä", 2000) + `"}`))
	if err != nil || got.HFID != "a/[2Jb c" || len(got.Quantization) > 512 {
		t.Errorf("got %q and %d bytes, %v", got.HFID, len(got.Quantization), err)
	}
}
