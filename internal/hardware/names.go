package hardware

import (
	"slices"
	"strings"
)

// Alias maps a driver's name to the leaderboard's.
type Alias struct {
	// Driver is the name as the driver prints it.
	Driver string
	// Canonical is the leaderboard's name.
	Canonical string
	// Source says how the pair is known.
	Source string
}

// Sources of the names.
const (
	fromPayloads = "published payloads"
	fromSite     = "names the leaderboard lists"
	fromH200     = "nvidia-smi 580.159 on an H200 SXM; the leaderboard's name from its list"
	fromDriver   = "NVIDIA's driver names the memory, the leaderboard the form factor; from public nvidia-smi logs"
)

// aliases is the table. The leaderboard's full list is only in its live
// context, so it is not complete; a name that is not here is not translated.
var aliases = []Alias{
	{"NVIDIA B200", "NVIDIA B200", fromPayloads},
	{"NVIDIA H200", "NVIDIA H200 SXM", fromH200},
	{"NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB SXM", fromDriver},
	{"NVIDIA GeForce RTX 5090", "NVIDIA GeForce RTX 5090", fromPayloads},
	{"NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 4090", fromSite},
	{"NVIDIA GeForce RTX 3090", "NVIDIA GeForce RTX 3090", fromSite},
	{"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "NVIDIA RTX PRO 6000 Blackwell", fromDriver},
	{"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "NVIDIA RTX PRO 6000 Blackwell", fromDriver},
	{"NVIDIA RTX PRO 6000 Blackwell Server Edition", "NVIDIA RTX PRO 6000 Blackwell", fromDriver},
	{"NVIDIA CMP 170HX", "NVIDIA CMP 170HX", fromSite},
	{"AMD Radeon AI PRO R9700", "AMD Radeon AI Pro R9700", fromSite},
	{"Intel Arc Pro B65", "Intel Arc Pro B65", fromSite},
	{"Intel Arc Pro B70", "Intel Arc Pro B70", fromSite},
	{"Tenstorrent P150", "Tenstorrent P150", fromSite},
}

// Canonical returns the leaderboard's name for a driver's, or for a name that
// is the leaderboard's already. The table is exact but for case and blanks: a
// prefix would make an "H200 NVL" an H200 SXM.
func Canonical(name string) (Alias, bool) {
	for _, a := range aliases {
		if sameName(a.Driver, name) {
			return a, true
		}
	}
	for _, a := range aliases {
		if sameName(a.Canonical, name) {
			return Alias{Driver: name, Canonical: a.Canonical, Source: a.Source}, true
		}
	}
	return Alias{}, false
}

func sameName(a, b string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}

// CanonicalNames returns the leaderboard's names that the table knows, sorted.
func CanonicalNames() []string {
	var names []string
	for _, a := range aliases {
		names = append(names, a.Canonical)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Nearest returns the name of list that is closest to name by letters, for a
// suggestion; "" when none is close.
func Nearest(name string, list []string) string {
	best, bestDistance := "", 0
	key := strings.ToLower(strings.Join(strings.Fields(name), " "))
	for _, c := range list {
		d := distance(key, strings.ToLower(c))
		if best == "" || d < bestDistance {
			best, bestDistance = c, d
		}
	}
	if bestDistance > max(len(key), len(best))/2 {
		return ""
	}
	return best
}

// distance is Levenshtein's, over bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
