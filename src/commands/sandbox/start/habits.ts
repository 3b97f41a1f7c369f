export const habits = [
  ['sandbox', 'up create new serve', 'sandbox start'],
  [
    'sandbox start',
    '--background --detach -d',
    'To start it in the background of a shell, end the line with &.',
  ],
  ['sandbox', 'stop down rm delete', 'A sandbox stops with Ctrl-C, or when its shell or command ends.'],
] as const
