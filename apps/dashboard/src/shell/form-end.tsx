import { Button, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Problem } from '../api/problem.js';
import { FormFailure } from './form-failure.js';

interface FormEndProps {
  write: { error: Problem | null; isPending: boolean };
  /** Text of the button. */
  action: string;
  /** Result of the last submission. */
  said?: string;
  isDisabled?: boolean;
}

/** The end of every form: why it was refused, what has come of it, and the button that sends it. */
export function FormEnd({ write, action, said = '', isDisabled = false }: FormEndProps): ReactNode {
  return (
    <>
      <FormFailure failure={write.error} />
      <Group justify="flex-end">
        <Text size="sm" c="dimmed" role="status">
          {said}
        </Text>
        <Button type="submit" disabled={isDisabled} loading={write.isPending}>
          {action}
        </Button>
      </Group>
    </>
  );
}
