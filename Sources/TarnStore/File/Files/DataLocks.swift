/// The bytes of a data file that are locked, far beyond the data.
enum DataLocks {
  /// From here on: a shared lock of each process that has the store open.
  static let shared: Int64 = 1 << 62
  /// An exclusive lock of a process that creates the store in an existing file.
  static let making = shared - 1
  /// How long an opener waits for the locks of a store that is being closed. Some outlive it for a
  /// moment, such as those that a child process has until it executes its program.
  static let passing = Duration.seconds(2)
}
