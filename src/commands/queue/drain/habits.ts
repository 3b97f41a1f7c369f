export const habits = [['queue update', '--draining --drain', 'queue drain']] as const
