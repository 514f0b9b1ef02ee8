// Command mute is a kernel program that never says a word.
package main

import "time"

func main() { time.Sleep(time.Hour) }
