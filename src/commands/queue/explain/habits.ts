export const habits = [['queue', 'why diagnose stuck blocked stalled', 'queue explain']] as const
