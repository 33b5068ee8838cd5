package main

import "github.com/urfave/cli/v3"

// priceFlags are the prices that run and report both take.
type priceFlags struct {
	gpuHour, kwh, pue *float64
	gpus              *int
	priceDate         string
}

// flags are the options; known says where the number of GPUs comes from
// otherwise.
func (f *priceFlags) flags(known string) []cli.Flag {
	return []cli.Flag{
		option(catPrice, "`USD` rent of one GPU for an hour, in dollars", &number{&f.gpuHour, 0, 1e12}, "gpu-hour-usd"),
		option(catPrice, "number of GPUs that are paid for ("+known+")", &count{&f.gpus, 1}, "gpus"),
		option(catPrice, "`USD` price of a kWh, in dollars", &number{&f.kwh, 0, 1e12}, "power-usd-kwh"),
		option(catPrice, "power of the building ÷ power of its devices (1)", &number{&f.pue, 1, 10}, "pue"),
		word(catPrice, "`DAY` the prices were true, to keep with them", &f.priceDate, "price-date"),
	}
}

// check refuses a part of a price without the price.
func (f *priceFlags) check() error {
	switch {
	case f.gpus != nil && f.gpuHour == nil:
		return usagef("missing_option", "--gpus counts what --gpu-hour-usd pays for: give both")
	case f.pue != nil && f.kwh == nil:
		return usagef("missing_option", "--pue multiplies the price of energy: give --power-usd-kwh too")
	}
	return nil
}
