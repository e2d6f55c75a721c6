public import Dispatch
public import Foundation

extension Realm {
  /// Opens the default configuration on the calling thread, or on `queue`.
  ///
  /// - Parameter queue: a serial queue that this call runs on; nil for the calling thread.
  /// - Throws: `Realm.Error` if the file cannot be opened or does not match the classes.
  public init(queue: DispatchQueue? = nil) throws {
    try self.init(configuration: .defaultConfiguration, queue: queue)
  }

  /// Opens a configuration on the calling thread, or on `queue`.
  ///
  /// The file and its two companions (`-lock`, `-signal`) are created if they do not exist.
  /// Classes and properties that the file lacks are added to it.
  ///
  /// - Parameters:
  ///   - configuration: which file, and how.
  ///   - queue: a serial queue that this call runs on; nil for the calling thread.
  /// - Throws: `Realm.Error` if the file cannot be opened or does not match the classes.
  public init(configuration: Configuration, queue: DispatchQueue? = nil) throws {
    var scheduler = Scheduler.current
    if let queue {
      scheduler = Scheduler(on: queue)
    }
    self.init(try RealmCache.open(configuration, scheduler))
  }

  /// Opens a configuration on a scheduler whose turns the program runs itself.
  ///
  /// - Throws: `Realm.Error` if the file cannot be opened or does not match the classes.
  public init(configuration: Configuration, scheduler: ManualScheduler) throws {
    self.init(try RealmCache.open(configuration, .manual(scheduler.turns)))
  }

  /// Opens a file; all other settings are those of the default configuration.
  ///
  /// - Throws: `Realm.Error` if the file cannot be opened or does not match the classes.
  public init(fileURL: URL) throws {
    var configuration = Configuration.defaultConfiguration
    configuration.fileURL = fileURL
    try self.init(configuration: configuration)
  }
}
