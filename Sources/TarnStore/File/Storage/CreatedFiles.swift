internal import CTarn
internal import Glibc

/// The files that opening a store has created. They are removed if opening fails.
struct CreatedFiles {
  private let data: FileIdentity?
  private let paths: [String]

  /// No files.
  init() { (data, paths) = (nil, []) }

  /// The data file was just created; its missing companions will be created.
  init(data: FileIdentity, path: String) {
    self.data = data
    // The data last: while it exists, no other store uses its companions.
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

  /// Removes them, unless another process has opened the store meanwhile.
  func remove() {
    guard let data, let path = paths.last,
      let file = try? OwnedDescriptor(opening: path, flags: O_RDWR, operation: "open"),
      FileFacts.of(descriptor: file.raw)?.identity == data,
      tarn_lock_exclusive(file.raw, DataLocks.making, 1) == 0,
      tarn_is_locked_elsewhere(file.raw, DataLocks.shared, 0) == 0
    else { return }
    for path in paths { unsafe path.withPath { _ = unsafe unlink($0) } }
  }
}
