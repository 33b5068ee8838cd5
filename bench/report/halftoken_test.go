package report_test

import (
	"testing"

	"lmxbench/bench/report"
)

// TestHalfTokensOfLmxAreRead: the median of an even number of requests may lie
// between two counts, and lmx writes it so.
func TestHalfTokensOfLmxAreRead(t *testing.T) {
	t.Parallel()
	d, err := report.ParseDocument([]byte(`{"engineName":"vllm","hfId":"a/b","promptTokens":304.5,"outputTokens":512,"tokSOut":14499.4,"batchSize":256}`))
	if err != nil {
		t.Fatal(err)
	}
	if d.PromptTokens == nil || *d.PromptTokens != 305 || d.OutputTokens == nil || *d.OutputTokens != 512 {
		t.Errorf("got %v prompt and %v output tokens, want 305 and 512", d.PromptTokens, d.OutputTokens)
	}
}
