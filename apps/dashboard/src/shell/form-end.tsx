import { Button, Group, Text } from '@mantine/core';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { Problem } from '../api/problem.js';
import { FormFailure } from './form-failure.js';

interface FormEndProps {
  write: { error: Problem | null; isPending: boolean; isSuccess?: boolean };
  /** Text of the button. */
  action: string;
  /** Result of the last submission. */
  said?: string;
  isDisabled?: boolean;
  /** Content of the fields of a form that changes something: as long as it is what was saved, nothing can be sent. */
  draft?: object;
}

/** The end of every form: why it was rejected, what has come of it, and the button that sends it. */
export function FormEnd({ write, action, said = '', isDisabled = false, draft }: FormEndProps): ReactNode {
  const isSaved = useIsSaved(write, JSON.stringify(draft));
  return (
    <>
      <FormFailure failure={write.error} />
      <Group justify="flex-end">
        <Text size="sm" c="dimmed" role="status">
          {said}
        </Text>
        <Button
          type="submit"
          disabled={isDisabled || (draft !== undefined && isSaved)}
          loading={write.isPending}
        >
          {action}
        </Button>
      </Group>
    </>
  );
}

/** Returns true if a draft is what the form began with, or what was saved last. */
function useIsSaved(
  { isPending, isSuccess = false }: FormEndProps['write'],
  draft: string | undefined,
): boolean {
  const [saved, setSaved] = useState(draft);
  const sent = useRef(draft);
  // What is typed while a draft is on its way is not saved with it.
  useEffect(() => {
    if (isPending) sent.current = draft;
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [isPending]);
  useEffect(() => {
    if (isSuccess) setSaved(sent.current);
  }, [isSuccess]);
  return draft === saved;
}
