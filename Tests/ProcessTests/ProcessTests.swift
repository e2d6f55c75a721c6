import Testing

/// What must hold while processes are killed, stopped and disturbed. One after the other: each of
/// them measures how long others take.
@Suite(.serialized) struct ProcessTests {}
