@testable import TarnSync

/// What replicas of the tests send to and receive from: a simulated server, or a real one.
protocol Peer {
  /// In microseconds.
  var clock: Int64 { get }
  /// Lets time pass, where it does not by itself.
  mutating func advance(by time: Int64)
  /// Makes a replica known, if it is not.
  mutating func register(_ id: UInt64) throws
  /// What is new since a position, which was part of an earlier answer; everything since -1.
  mutating func pull(_ id: UInt64, since position: Int) throws -> Pulled
  mutating func push(
    _ replica: Known, to identity: Int, _ commits: Sent, _ operations: [(key: Int, PeerOperation)]
  ) throws -> PeerAnswer
  /// A SQL program writes the property "b", or deletes an object.
  mutating func sqlUpdate(_ key: Int, _ value: Int) throws
  mutating func sqlDelete(_ key: Int) throws
}

/// A replica in the eyes of a server.
struct Known: Equatable {
  var id: UInt64
  var number: UInt32
  var version = 0
  var commit: UInt64 = 0
}

struct Pulled {
  let identity: Int
  let position: Int
  let known: Known
  let rows: [Int: ObjectRow<Int>]
  /// The incarnations that are no more.
  let gone: Set<Int64>
}

/// The commits of a push: those after one up to another.
struct Sent {
  let first: (version: Int, commit: UInt64)
  let last: (version: Int, commit: UInt64)
}

/// One object's part of a push.
enum PeerOperation {
  case insert(ObjectRow<Int>)
  case delete(incarnation: Int64)
  /// With the stamps that the replica has merged with.
  case update(incarnation: Int64, [String: (value: ObjectRow<Int>.Property, seen: Stamp?)])
}

enum PeerAnswer: Equatable { case taken, mergeFirst, otherVersion, refused }
