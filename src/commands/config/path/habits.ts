export const habits = [['config', 'edit open file where', 'config path']] as const
