package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v3"
)

func TestValues(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		value func() (set cli.Value, got func() any)
		good  map[string]any
		bad   map[string]string
	}{
		"a count": {
			func() (cli.Value, func() any) { var n *int; return &count{&n, 1}, func() any { return *n } },
			map[string]any{"1": 1, "512": 512, "+7": 7, "1000000000": maxCount},
			map[string]string{
				"0": "at least 1", "-4": "at least 1", "x": "not a whole number", "1.5": "not a whole number", "": "not a whole number",
				"1000000001": "too large", "99999999999999999999": "too large", "-99999999999999999999": "too small", "1_000": "not a whole number",
			},
		},
		"any whole number": {
			func() (cli.Value, func() any) { var n *int; return &count{&n, anyWhole}, func() any { return *n } },
			map[string]any{"-1": -1, "9223372036854775807": 9223372036854775807},
			map[string]string{"9223372036854775808": "64 bits", "x": "64 bits"},
		},
		"a number": {
			func() (cli.Value, func() any) { var f *float64; return &number{&f, 0, 2}, func() any { return *f } },
			map[string]any{"0": 0.0, "1.5": 1.5, "2": 2.0, "1e-3": 0.001},
			map[string]string{"-0.1": "from 0 to 2", "2.1": "from 0 to 2", "NaN": "not a number", "Inf": "not a number", "x": "not a number"},
		},
		"a time": {
			func() (cli.Value, func() any) { var d time.Duration; return &seconds{&d}, func() any { return d } },
			map[string]any{"600": 10 * time.Minute, "0.25": 250 * time.Millisecond, "1000000": 1e6 * time.Second},
			map[string]string{"0": "above 0", "-1": "above 0", "1e-12": "above 0", "1e7": "up to 1000000", "10s": "in seconds", "NaN": "in seconds"},
		},
		"a ladder": {
			func() (cli.Value, func() any) { var l []int; return &ladder{&l}, func() any { return l } },
			map[string]any{"1": []int{1}, "1,64, 128": []int{1, 64, 128}, "256,1": []int{256, 1}},
			map[string]string{
				"": "is not a whole number", "1,": "is not a whole number", "0": "whole numbers from 1", "4,4": "twice",
				"60001": "up to 60000", "99999999999999999999": "up to 60000", "1;2": "is not a whole number",
			},
		},
		"powers": {
			func() (cli.Value, func() any) { var w []float64; return &watts{&w}, func() any { return w } },
			map[string]any{"700": []float64{700}, "700, 698.5": []float64{700, 698.5}},
			map[string]string{"0": "above 0", "700,x": `"x"`, "": "not a power", "20000": "up to 10000"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for text, want := range tt.good {
				set, got := tt.value()
				if err := set.Set(text); err != nil {
					t.Errorf("%q: %v", text, err)
				} else if diff := cmp.Diff(want, got()); diff != "" {
					t.Errorf("%q (-want +got):\n%s", text, diff)
				} else if again, _ := tt.value(); again.Set(set.String()) != nil {
					t.Errorf("%q is printed as %q, which it does not read", text, set.String())
				}
			}
			for text, says := range tt.bad {
				set, _ := tt.value()
				if err := set.Set(text); err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("%q: got error %v, want one with %q", text, err, says)
				}
			}
			if set, _ := tt.value(); set.String() != "" {
				t.Errorf("a value that was not given prints %q", set.String())
			}
		})
	}
}

func TestHardwareCost(t *testing.T) {
	t.Parallel()
	good := map[string]string{
		"RTX 4090|USED|2023|1400|USD":                                      `[{"component":"RTX 4090","condition":"USED","currency":"USD","price":1400,"yearPurchased":2023}]`,
		" Case | new || 90.5 | EUR ;":                                      `[{"component":"Case","condition":"NEW","currency":"EUR","price":90.5}]`,
		"a|NEW|1980|1|USD;b|NEW||2|USD":                                    `[{"component":"a","condition":"NEW","currency":"USD","price":1,"yearPurchased":1980},{"component":"b","condition":"NEW","currency":"USD","price":2}]`,
		`[{"component":"a","condition":"NEW","price":1,"currency":"USD"}]`: `[{"component":"a","condition":"NEW","currency":"USD","price":1}]`,
	}
	for text, want := range good {
		got, err := hardwareCost(text)
		if err != nil || string(got) != want {
			t.Errorf("%q: got %s, %v; want %s", text, got, err, want)
		}
	}
	bad := map[string]string{
		"":                            "fields",
		"GPU":                         "has 1 fields",
		"GPU|NEW|2023|1400":           "has 4 fields",
		"|NEW||1|USD":                 "no name",
		"GPU|FRESH||1|USD":            "write NEW or USED",
		"GPU|NEW|soon|1|USD":          "is no year",
		"GPU|NEW|1979|1|USD":          "from 1980",
		"GPU|NEW|3000|1|USD":          "from 1980",
		"GPU|NEW||free|USD":           "is no price",
		"GPU|NEW||0|USD":              "above 0",
		"GPU|NEW||NaN|USD":            "above 0",
		"GPU|NEW||-1|USD":             "above 0",
		"GPU|NEW||1|usd":              "three capitals",
		`[{"component":"a"}]`:         "NEW or USED",
		`[{"component":1}]`:           "JSON array",
		`[`:                           "JSON array",
		"GPU|NEW||1|USD;;GPU|NEW||1|": "has 1 fields",
	}
	for text, says := range bad {
		if got, err := hardwareCost(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %s, %v; want an error with %q", text, got, err, says)
		}
	}
}
