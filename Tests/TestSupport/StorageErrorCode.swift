package import TarnStore

extension StorageError {
  /// The code of the storage error that `body` throws; nil if it throws no such error.
  package static func code<R>(of body: () throws -> R) -> Code? {
    do {
      _ = try body()
      return nil
    } catch {
      return (error as? StorageError)?.code
    }
  }
}
