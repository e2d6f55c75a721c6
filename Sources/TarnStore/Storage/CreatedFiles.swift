internal import CTarn
internal import Glibc

/// The files that the opening of a store has made: they go again if it cannot be opened after all.
struct CreatedFiles {
  private let data: FileIdentity?
  private let paths: [String]

  /// Nothing was made.
  init() { (data, paths) = (nil, []) }

  /// The data was made just now; of its companions those will be made that are not there yet.
  init(data: FileIdentity, path: String) {
    self.data = data
    // The data last: as long as it is there, its companions are nobody else's.
    paths =
      ["-lock", "-signal"].map { path + $0 }.filter { FileFacts.at($0) == nil } + [path]
  }

  /// Removes them if `body` fails.
  func keptOnlyIf<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
    do throws(StorageError) {
      return try body()
    } catch {
      remove()
      throw error
    }
  }

  /// Removes them, unless somebody else has opened the store by now.
  func remove() {
    guard let data, let path = paths.last,
      let file = try? OwnedDescriptor(opening: path, flags: O_RDWR, operation: "open"),
      FileFacts.of(descriptor: file.raw)?.identity == data,
      tarn_lock_exclusive(file.raw, DataLocks.making, 1) == 0,
      tarn_is_locked_elsewhere(file.raw, DataLocks.shared, 0) == 0
    else { return }
    for path in paths { unsafe unlink(path) }
  }
}
