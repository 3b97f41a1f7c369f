export const habits = [['queue', 'stats statistics summary trends', 'queue report']] as const
