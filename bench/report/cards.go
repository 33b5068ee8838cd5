package report

import (
	"cmp"
	"encoding/json"
)

// Cards reads name and number of the GPUs from hardware.json: empty and 0 where
// it names none.
func Cards(raw json.RawMessage) (name string, n int) {
	var h struct {
		Name  string `json:"gpuName"`
		Plain string `json:"name"`
		Count int    `json:"gpuCount"`
		GPUs  []struct {
			Name  string `json:"name"`
			GPU   string `json:"gpuName"`
			Count int    `json:"count"`
		} `json:"gpus"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &h) != nil {
		return "", 0
	}
	name, n = cmp.Or(h.Name, h.Plain), h.Count
	slots := 0
	for _, g := range h.GPUs {
		name = cmp.Or(name, g.GPU, g.Name)
		slots += max(1, g.Count)
	}
	if n == 0 {
		n = slots
	}
	if n == 0 && name != "" {
		n = 1
	}
	return name, n
}
