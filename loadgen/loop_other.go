//go:build !linux

package loadgen

// Other systems have no epoll: every connection is read by a goroutine.

func (p *Pool) startLoops(*run, []*lane) {}

func (p *Pool) loops(int) int { return 0 }
