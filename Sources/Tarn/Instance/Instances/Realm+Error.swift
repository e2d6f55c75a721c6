public import Foundation
import TarnStore

extension Realm {
  /// The reason why a call on a Realm failed. Match a kind with `catch Realm.Error.fileNotFound`.
  ///
  /// Storage failures leave the last committed version intact; the article on recovery describes
  /// the effects of each failure.
  public struct Error: Swift.Error, Equatable, Sendable, CustomNSError, LocalizedError,
    CustomStringConvertible
  {
    /// The kinds of failure; the raw values are those of the Realm SDKs.
    public enum Code: Int, Sendable, CaseIterable {
      /// Any other failure; the message describes it.
      case fail = 1
      /// Not used by Tarn.
      case fileAccess = 2
      /// The process cannot read or write the file, its companions or its folder.
      case filePermissionDenied = 3
      /// There is a file where a copy was to be made. It was not changed.
      case fileExists = 4
      /// There is no file, and the Realm is read-only or the migration is a dry run; or the folder
      /// does not exist.
      case fileNotFound = 5
      /// Not used by Tarn.
      case fileFormatUpgradeRequired = 6
      /// The data, lock and signal files at the path do not belong together.
      case incompatibleLockFile = 8
      /// The process cannot get the address space that the file needs.
      case addressSpaceExhausted = 9
      /// The classes do not match those in the file; the message names every difference.
      case schemaMismatch = 10
      /// This process already has the file open in a way that excludes this use.
      case alreadyOpen = 12
      /// The input is invalid or exceeds a limit.
      case invalidInput = 13
      /// The disk is full; nothing was written.
      case outOfDiskSpace = 14
      /// Not used by Tarn.
      case incompatibleSession = 15
      /// The file was written by a later version of the library.
      case unsupportedFileFormatVersion = 16
      /// Not used by Tarn.
      case multipleSyncAgents = 17
      /// The server cannot answer the queries of the subscriptions; the message says why.
      case subscriptionFailed = 18
      /// The system reported a failure to read or write.
      case fileOperationFailed = 19
      /// The file is not a Tarn store, or it is damaged.
      case invalidDatabase = 20
      /// Not used by Tarn.
      case incompatibleHistories = 21
      /// A write to a class of a synchronized Realm that has no subscription. Nothing was written.
      case noSubscriptionForWrite = 22
      /// Two objects have the same combination of values in properties that `uniqueProperties()`
      /// makes unique; the message names them. Nothing was written.
      case notUnique = 1000
      /// Another thread or process did not stop writing in time; the message names the process,
      /// since when it writes, and whether it is stopped. Nothing was written.
      case busy = 1001
      /// The write is committed, but this instance cannot show it: all read transactions are in
      /// use, say. Do not repeat the write. The instance shows the version before, and moves to the
      /// new one, as it would after a commit of another process, as soon as it can.
      case committed = 1002
      /// The disk failed in the last step of a commit: only the next opening of the file shows
      /// whether the write is in it.
      case outcomeUnknown = 1003
      /// The machine or the mount ended while commits of a file with durability `relaxed` were not
      /// on the disk. It is refused until a check has shown that it is not damaged: see the article
      /// on recovery, and ``Realm/Configuration/deleteRealmIfDamaged``.
      case mayBeDamaged = 1004
    }

    /// The kind of failure.
    public let code: Code
    /// A sentence for people: the problem and, where possible, its remedy.
    public let message: String
    /// The file concerned, if any.
    public let fileURL: URL?

    /// Whether the write that failed with this error is in the file: true for
    /// ``Code/committed``, nil for ``Code/outcomeUnknown``, false for every other failure, after
    /// which nothing was written.
    public var isCommitted: Bool? {
      switch code {
      case .committed: true
      case .outcomeUnknown: nil
      default: false
      }
    }

    /// An error of that kind.
    public init(_ code: Code, message: String = "", fileURL: URL? = nil) {
      self.code = code
      self.message = message
      self.fileURL = fileURL
    }

    /// Matches ``Code/fail``.
    public static let fail = Error(.fail)
    /// Matches ``Code/fileAccess``.
    public static let fileAccess = Error(.fileAccess)
    /// Matches ``Code/filePermissionDenied``.
    public static let filePermissionDenied = Error(.filePermissionDenied)
    /// Matches ``Code/fileExists``.
    public static let fileExists = Error(.fileExists)
    /// Matches ``Code/fileNotFound``.
    public static let fileNotFound = Error(.fileNotFound)
    /// Matches ``Code/fileFormatUpgradeRequired``.
    public static let fileFormatUpgradeRequired = Error(.fileFormatUpgradeRequired)
    /// Matches ``Code/incompatibleLockFile``.
    public static let incompatibleLockFile = Error(.incompatibleLockFile)
    /// Matches ``Code/addressSpaceExhausted``.
    public static let addressSpaceExhausted = Error(.addressSpaceExhausted)
    /// Matches ``Code/schemaMismatch``.
    public static let schemaMismatch = Error(.schemaMismatch)
    /// Matches ``Code/alreadyOpen``.
    public static let alreadyOpen = Error(.alreadyOpen)
    /// Matches ``Code/invalidInput``.
    public static let invalidInput = Error(.invalidInput)
    /// Matches ``Code/outOfDiskSpace``.
    public static let outOfDiskSpace = Error(.outOfDiskSpace)
    /// Matches ``Code/incompatibleSession``.
    public static let incompatibleSession = Error(.incompatibleSession)
    /// Matches ``Code/unsupportedFileFormatVersion``.
    public static let unsupportedFileFormatVersion = Error(.unsupportedFileFormatVersion)
    /// Matches ``Code/multipleSyncAgents``.
    public static let multipleSyncAgents = Error(.multipleSyncAgents)
    /// Matches ``Code/subscriptionFailed``.
    public static let subscriptionFailed = Error(.subscriptionFailed)
    /// Matches ``Code/fileOperationFailed``.
    public static let fileOperationFailed = Error(.fileOperationFailed)
    /// Matches ``Code/invalidDatabase``.
    public static let invalidDatabase = Error(.invalidDatabase)
    /// Matches ``Code/incompatibleHistories``.
    public static let incompatibleHistories = Error(.incompatibleHistories)
    /// Matches ``Code/noSubscriptionForWrite``.
    public static let noSubscriptionForWrite = Error(.noSubscriptionForWrite)

    /// Matches ``Code/notUnique``.
    public static let notUnique = Error(.notUnique)
    /// Matches ``Code/busy``.
    public static let busy = Error(.busy)
    /// Matches ``Code/committed``.
    public static let committed = Error(.committed)
    /// Matches ``Code/outcomeUnknown``.
    public static let outcomeUnknown = Error(.outcomeUnknown)
    /// Matches ``Code/mayBeDamaged``.
    public static let mayBeDamaged = Error(.mayBeDamaged)

    /// Errors are equal if they are of the same kind.
    public static func == (a: Error, b: Error) -> Bool { a.code == b.code }

    /// Makes `catch Realm.Error.fileNotFound` match by kind.
    public static func ~= (pattern: Error, error: any Swift.Error) -> Bool {
      (error as? Error)?.code == pattern.code
    }

    /// The domain of these errors in Foundation.
    public static var errorDomain: String { "io.realm" }
    /// The kind as a number.
    public var errorCode: Int { code.rawValue }
    /// The description, and the name of the kind.
    public var errorUserInfo: [String: Any] {
      [NSLocalizedDescriptionKey: description, "Error Name": "\(code)"]
    }
    public var errorDescription: String? { description }
    public var description: String {
      message.isEmpty ? "\(code)" : message
    }
  }
}

extension Realm.Error {
  /// The only code that converts the engine's errors into public ones.
  init(_ error: StorageError) {
    let code: Code =
      switch error.code {
      case .notAStore, .corrupted: .invalidDatabase
      case .newerFormat: .unsupportedFileFormatVersion
      case .permissionDenied: .filePermissionDenied
      case .notFound: .fileNotFound
      case .fileExists: .fileExists
      case .diskFull: .outOfDiskSpace
      case .addressSpace: .addressSpaceExhausted
      case .identity, .replaced: .incompatibleLockFile
      case .schemaMismatch, .olderProgram: .schemaMismatch
      case .invalidInput, .limitExceeded: .invalidInput
      case .alreadyOpen: .alreadyOpen
      case .notUnique: .notUnique
      case .noSubscription: .noSubscriptionForWrite
      case .busy: .busy
      case .committed: .committed
      case .outcomeUnknown: .outcomeUnknown
      case .uncertain: .mayBeDamaged
      case .inputOutput: .fileOperationFailed
      default: .fail
      }
    let url = StoreLocation.file(ofErrorAt: error.path).map { URL(fileURLWithPath: $0) }
    self.init(code, message: error.description, fileURL: url)
  }

  /// The error of a write that is committed, although the instance cannot move to it.
  init(afterCommit error: StorageError) {
    self.init(.committed, message: "The write is committed. \(error)", fileURL: Self(error).fileURL)
  }
}

extension Store {
  /// The file; nil for an in-memory store.
  var fileURL: URL? { StoreLocation.file(ofErrorAt: path).map { URL(fileURLWithPath: $0) } }
}

/// Runs engine work and converts its errors into public ones.
@inline(__always)
func publicly<R>(_ body: () throws(StorageError) -> R) throws(Realm.Error) -> R {
  do {
    return try body()
  } catch {
    throw Realm.Error(error)
  }
}
