import Dispatch
import Tarn
import TarnStore

/// Failures that other processes cause, and that are likely to pass soon.
enum Passing {
  /// For so long the beginning of a watch waits for them.
  static let time = DispatchTimeInterval.seconds(30)
  /// When it is tried again meanwhile.
  static let pause = Duration.milliseconds(200)

  static func isBusy(_ error: any Error) -> Bool {
    (error as? StorageError)?.code == .busy || (error as? Realm.Error)?.code == .busy
  }
}
