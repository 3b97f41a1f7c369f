// What commands outside of the group `metrics` read in metrics: a single file of the program, loaded lazily.
export { summarizeMetrics } from './summary.ts'
export { usualRangeText, usualTimeInQueue } from './usual-time.ts'
