import Dispatch
import TarnStore

/// Runs work that waits for locks or the disk, or reads a lot, outside of the threads of tasks.
enum FeedWork {
  static func run<R: Sendable>(
    _ body: @escaping @Sendable () throws(Realm.Error) -> R
  ) async -> Result<R, Realm.Error> {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        do throws(Realm.Error) {
          continuation.resume(returning: .success(try body()))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
  }
}
