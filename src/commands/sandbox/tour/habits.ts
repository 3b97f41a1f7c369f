export const habits = [[', sandbox', 'demo try tour play tutorial learn playground', 'sandbox tour']] as const
