export const habits = [['queue', 'remove rm destroy drop', 'queue delete']] as const
