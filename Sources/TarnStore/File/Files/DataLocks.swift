/// The bytes of a data file that are locked, far beyond the data.
enum DataLocks {
  /// From here on: a shared lock of each process that has the store open.
  static let shared: Int64 = 1 << 62
  /// An exclusive lock of a process that creates the store in an existing file.
  static let making = shared - 1
  /// How long a lock may outlive its store: a child process has it until it executes its program,
  /// if another thread of the process began to start it before the store was closed.
  static let passing = Duration.milliseconds(200)
}
