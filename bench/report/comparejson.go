package report

import "bytes"

// CompareJSON compares a JSON text of a run directory with the one its evidence
// gives, key by key. path is put in front of the keys. Texts of equal bytes have
// no difference; numbers are equal when they are written alike.
func CompareJSON(path string, file, computed []byte) []Difference {
	if bytes.Equal(file, computed) {
		return nil
	}
	got, err := decodeTree(file)
	if err != nil {
		return []Difference{{path, "no JSON: " + err.Error(), "JSON"}}
	}
	want, err := decodeTree(computed)
	if err != nil {
		return []Difference{{path, "JSON", "no JSON: " + err.Error()}}
	}
	return compare(path, got, want)
}
