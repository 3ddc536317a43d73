import { Alert } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ReactNode } from 'react';

/** Reason of a rejected form, read out at once. */
export function FormProblem({ text }: { text: string }): ReactNode {
  return (
    <Alert color="red" variant="light" role="alert" icon={<IconAlertTriangle size={16} />} p="sm">
      {text}
    </Alert>
  );
}
