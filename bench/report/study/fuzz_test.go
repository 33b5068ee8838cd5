package study_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"lmxbench/bench/report/study"
)

// Whatever a file holds, a subject's rates are numbers above zero, and it can
// be written as JSON.
func sound(t *testing.T, s *study.Subject) {
	t.Helper()
	for _, r := range s.Rates {
		if !(r.TokensPerSecond > 0) || math.IsInf(r.TokensPerSecond, 0) {
			t.Errorf("rate %v by %s", r.TokensPerSecond, r.Basis)
		}
	}
	if s.Streams < 1 {
		t.Errorf("%d streams", s.Streams)
	}
	if _, err := json.Marshal(s); err != nil {
		t.Error(err)
	}
}

func FuzzRows(f *testing.F) {
	f.Add([]byte("hf_id,engine,concurrency,tok_s_out,price_usd_h,ttft_ms,verified,rank_all\nm,vllm,256,14499.4,5.60,857.36,true,1\n"))
	f.Add([]byte("hf_id,engine,concurrency,tok_s_out\nm,vllm,1,1e308\n"))
	f.Add([]byte("hf_id,engine,concurrency,tok_s_out\n\"m\nm\",vllm,1,0x1p-1074\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := study.ParseRows(bytes.NewReader(data))
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Error("an error without words")
			}
			return
		}
		for _, s := range rows {
			sound(t, s)
		}
	})
}

func FuzzResult(f *testing.F) {
	f.Add([]byte(`{"payload":{"engineName":"vllm","batchSize":2,"tokSOut":198.1,"sampleStats":{"tokSOut":{"count":3,"min":1,"p50":2,"max":3}},"samples":[{"ttftMs":1}]}}`))
	f.Add([]byte(`{"tokSOut":1,"tokSTotal":1e308,"promptTokens":9223372036854775807,"outputTokens":9223372036854775807}`))
	f.Add([]byte(`{"hfId":"a","lmxbench":{"schema":1,"plan":{"concurrency":2},"verdict":{"status":"VALID"},"throughput":{"batchWall":{"p50":-1}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := study.ParseResult(data)
		if err != nil {
			return
		}
		sound(t, study.FromDocument(d))
	})
}

func FuzzPowerRecording(f *testing.F) {
	f.Add([]byte("kind,gpu,before_ns,after_ns,stamp_unix_ns,power_sample_w,note\norigin,,0,0,5,,\nring,G,1,1,1,10,\nring,G,9,9,9,20,\n"))
	f.Add([]byte("kind,gpu\nring\nring,G\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		points, err := study.ReadPowerRecording(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, p := range points {
			if math.IsNaN(p.At) {
				t.Errorf("got %+v", p)
			}
		}
	})
}
