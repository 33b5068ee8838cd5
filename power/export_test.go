package power

// AllSamples returns every sample of a series, by kind as the full fixture of
// the CSV tests orders them.
func (s *Series) AllSamples() []Sample {
	var all []Sample
	for _, d := range s.Description.Devices {
		t := s.tracks[d.UUID]
		all = append(all, t.gauges...)
		all = append(all, t.counter...)
		all = append(all, t.ring...)
		all = append(all, t.activity...)
	}
	all = append(all, s.clocks...)
	for _, d := range s.Description.Devices {
		t := s.tracks[d.UUID]
		all = append(all, t.processes...)
		all = append(all, t.faults...)
	}
	return all
}
