package import TarnSync

/// What replicas of the tests send to and receive from: a simulated server, or a real one.
package protocol Peer {
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
package struct Known: Equatable {
  package var id: UInt64
  package var number: UInt32
  package var version: Int
  package var commit: UInt64

  package init(id: UInt64, number: UInt32, version: Int = 0, commit: UInt64 = 0) {
    (self.id, self.number) = (id, number)
    (self.version, self.commit) = (version, commit)
  }
}

package struct Pulled {
  package let identity: Int
  package let position: Int
  package let known: Known
  package let rows: [Int: ObjectRow<Int>]
  /// The incarnations that are no more.
  package let gone: Set<Int64>

  package init(
    identity: Int, position: Int, known: Known, rows: [Int: ObjectRow<Int>], gone: Set<Int64>
  ) {
    (self.identity, self.position, self.known) = (identity, position, known)
    (self.rows, self.gone) = (rows, gone)
  }
}

/// The commits of a push: those after one up to another.
package struct Sent {
  package let first: (version: Int, commit: UInt64)
  package let last: (version: Int, commit: UInt64)
}

/// One object's part of a push.
package enum PeerOperation {
  case insert(ObjectRow<Int>)
  case delete(incarnation: Int64)
  /// With the stamps that the replica has merged with.
  case update(incarnation: Int64, [String: (value: ObjectRow<Int>.Property, seen: Stamp?)])
}

package enum PeerAnswer: Equatable { case taken, mergeFirst, otherVersion, refused }
