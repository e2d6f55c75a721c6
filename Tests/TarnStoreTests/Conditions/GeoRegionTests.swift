import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// Which places are within shapes, against models that compute it in other ways.
@Suite struct GeoRegionTests {
  private func place(_ longitude: Double, _ latitude: Double) -> GeoPosition {
    GeoPosition(latitude: latitude, longitude: longitude)!
  }

  private func ring(_ places: [(Double, Double)]) -> [GeoPosition] {
    (places + places.prefix(1)).map { place($0.0, $0.1) }
  }

  private func region(
    _ outer: [(Double, Double)], _ holes: [[(Double, Double)]] = []
  ) throws -> GeoRegion {
    try GeoRegion(.polygon(outer: ring(outer), holes: holes.map(ring)))
  }

  // MARK: - Circles and boxes

  /// The haversine formula (R. W. Sinnott, Virtues of the Haversine, 1984).
  private func haversine(_ a: GeoPosition, _ b: GeoPosition) -> Double {
    let radian = Double.pi / 180
    let north = sin((b.latitude - a.latitude) * radian / 2)
    let east = sin((b.longitude - a.longitude) * radian / 2)
    let half =
      north * north + cos(a.latitude * radian) * cos(b.latitude * radian) * east * east
    return 2 * asin(min(1, half.squareRoot()))
  }

  @Test func `circles agree with the haversine formula`() throws {
    var random = SeededRandom(seed: 1)
    var within = 0
    for round in 0..<20_000 {
      let center = random.place()
      let other = round % 2 == 0 ? random.place() : random.place(near: center)
      let distance = haversine(center, other)
      let radius = round % 3 == 0 ? distance * 1.001 : Double.random(in: 0...3, using: &random)
      if abs(distance - radius) < 1e-7 { continue }
      let region = try GeoRegion(.circle(center: center, radius: radius))
      let isWithin = region.contains(other)
      within += isWithin ? 1 : 0
      if isWithin != (distance < radius) {
        Issue.record("\(center) \(other) \(radius) \(distance)")
      }
    }
    #expect(within > 5_000, "\(within)")
    #expect(within < 19_000, "\(within)")
  }

  @Test func `a circle has its border, and one of half the earth everything`() throws {
    let point = try GeoRegion(.circle(center: place(7, 8), radius: 0))
    #expect(point.contains(place(7, 8)))
    #expect(!point.contains(place(7.000_001, 8)))
    let quarter = try GeoRegion(.circle(center: place(0, 90), radius: .pi / 2))
    #expect(quarter.contains(place(17, 0)))
    #expect(!quarter.contains(place(17, -0.000_001)))
    let all = try GeoRegion(.circle(center: place(7, 8), radius: .pi))
    #expect(all.contains(place(-173, -8)))
  }

  @Test func `a box goes eastwards from its first longitude to its second`() throws {
    func box(_ a: GeoPosition, _ b: GeoPosition) throws -> GeoRegion {
      try GeoRegion(.box(bottomLeft: a, topRight: b))
    }
    let plain = try box(place(-10, -5), place(20, 5))
    #expect(plain.contains(place(-10, -5)))
    #expect(plain.contains(place(20, 5)))
    #expect(plain.contains(place(0, 0)))
    #expect(!plain.contains(place(20.1, 0)))
    #expect(!plain.contains(place(0, 5.1)))
    #expect(!plain.contains(place(180, 0)))
    let across = try box(place(170, -5), place(-170, 5))
    #expect(across.contains(place(180, 0)))
    #expect(across.contains(place(-180, 0)))
    #expect(across.contains(place(-175, 0)))
    #expect(across.contains(place(170, 0)))
    #expect(!across.contains(place(0, 0)))
    #expect(!across.contains(place(-169.9, 0)))
    let west = try box(place(-180, -5), place(-170, 5))
    #expect(west.contains(place(180, 0)))
    #expect(!west.contains(place(179, 0)))
    let polar = try box(place(0, 80), place(1, 90))
    #expect(polar.contains(place(123, 90)))
    #expect(!polar.contains(place(123, 89.9)))
    #expect(throws: GeoMistake.self) { try box(place(0, 5), place(1, -5)) }
  }

  // MARK: - Polygons

  /// How often a ring goes round a place, by the angles under which its arcs are seen from there.
  /// Says which places are inside as long as the ring is within one half of the earth, and the
  /// place too.
  private func winding(_ ring: [SphericalVector], around point: SphericalVector) -> Double {
    zip(ring, ring.dropFirst()).reduce(0) { sum, arc in
      let (a, b) = (arc.0, arc.1)
      func across(_ v: SphericalVector) -> SphericalVector {
        let up = v.dot(point)
        return SphericalVector(v.x - up * point.x, v.y - up * point.y, v.z - up * point.z)
      }
      let (u, v) = (across(a), across(b))
      return sum + atan2(point.dot(u.cross(v)), u.dot(v))
    } / (2 * .pi)
  }

  /// Rings of a random shape around random places, over poles and the meridian of 180°.
  @Test(arguments: Array(1...8) as [UInt64])
  func `polygons agree with winding numbers`(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var within = 0
    for _ in 0..<60 {
      let center = SphericalVector(random.place())
      let size = [0.001, 0.1, 1.2].randomElement(using: &random)!
      let ring = random.ring(around: center, size)
      let vectors = ring.map { SphericalVector($0) }
      let isReversed = random.chance(50)
      let region = try GeoRegion(
        .polygon(outer: isReversed ? ring.reversed() : ring, holes: []))
      for _ in 0..<100 {
        let place = random.chance(80) ? random.place(near: center, size) : random.place()
        let point = SphericalVector(place)
        let turns = winding(vectors, around: point)
        let expected = point.angle(to: center) < .pi / 2 - 0.3 && abs(turns) > 0.5
        within += expected ? 1 : 0
        if region.contains(place) != expected {
          Issue.record("\(ring) \(place) \(turns)")
        }
      }
    }
    #expect(within > 1_000, "\(within)")
    #expect(within < 5_000, "\(within)")
  }

  @Test func `the inside of a ring is the smaller part`() throws {
    let north = (0..<12).map { (Double($0) * 30 - 180, 60.0) }
    for ring in [north, north.reversed()] {
      let polar = try region(ring)
      #expect(polar.contains(place(0, 90)))
      #expect(polar.contains(place(77, 65)))
      #expect(!polar.contains(place(77, 59)))
      #expect(!polar.contains(place(0, -90)))
    }
    let south = (0..<12).map { (Double($0) * 30 - 180, -1.0) }
    #expect(try region(south).contains(place(5, -45)))
    #expect(try !region(south).contains(place(5, 45)))
    let equator = [(0.0, 0.0), (90.0, 0.0), (180.0, 0.0), (-90.0, 0.0)]
    // Of two halves the one on the left.
    #expect(try region(equator).contains(place(5, 45)))
    #expect(try !region(equator).contains(place(5, -45)))
    #expect(try region(equator.reversed()).contains(place(5, -45)))
    #expect(try !region(equator.reversed()).contains(place(5, 45)))
  }

  @Test func `sides are great circles`() throws {
    // From 60° west to 60° east along the parallel of 50° the shortest way is over 67°.
    let wide = try region([(-60, 50), (60, 50), (0, 20)])
    #expect(wide.contains(place(0, 66)))
    #expect(!wide.contains(place(0, 68)))
  }

  @Test func `places on a side or a corner are in the polygon, those in a hole are not`() throws {
    let outer = [(-10.0, 0.0), (10.0, 0.0), (10.0, 10.0), (-10.0, 10.0)]
    let hole = [(-1.0, 4.0), (1.0, 4.0), (1.0, 6.0), (-1.0, 6.0)]
    let polygon = try region(outer, [hole])
    for (longitude, latitude) in outer + hole + [(0, 0), (10, 5), (-10, 9.5), (1, 5), (5, 5)] {
      #expect(polygon.contains(place(longitude, latitude)), "\(longitude) \(latitude)")
    }
    for (longitude, latitude) in [(0.0, 5.0), (0.9, 4.1), (0, -0.000_01), (10.000_01, 5)] {
      #expect(!polygon.contains(place(longitude, latitude)), "\(longitude) \(latitude)")
    }
    let pole = try region([(0, 80), (120, 80), (-120, 80)], [[(0, 89), (120, 89), (-120, 89)]])
    #expect(!pole.contains(place(3, 90)))
    #expect(pole.contains(place(3, 85)))
    let corner = try region([(0, 90), (0, 80), (40, 80)])
    #expect(corner.contains(place(-77, 90)))
    #expect(corner.contains(place(20, 85)))
    #expect(!corner.contains(place(-20, 85)))
    let across = try region([(170, -10), (-170, -10), (-170, 10), (170, 10)])
    #expect(across.contains(place(180, 0)))
    #expect(across.contains(place(-180, 10)))
    #expect(!across.contains(place(0, 0)))
    #expect(!across.contains(place(169, 0)))
  }

  @Test func `shapes that are none are refused`() {
    func mistake(_ places: [(Double, Double)]) -> String? {
      GeoShape.polygon(outer: places.map { place($0.0, $0.1) }, holes: []).mistake
    }
    #expect(mistake([(0, 0), (1, 0), (0, 0)])?.contains("four places") == true)
    #expect(
      mistake([(0, 0), (1, 0), (1, 1), (0, 1)])?.contains("must end where it begins") == true)
    #expect(mistake([(0, 0), (1, 0), (1, 0), (0, 0)])?.contains("three different places") == true)
    #expect(mistake([(0, 0), (180, 0), (0, 50), (0, 0)])?.contains("opposite") == true)
    #expect(mistake([(0, 0), (1, 1), (1, 0), (0, 1), (0, 0)])?.contains("cross") == true)
    #expect(mistake([(0, 0), (1, 0), (1, 1), (0, 0)]) == nil)
    // The same place twice, and -180 for 180.
    #expect(mistake([(180, 0), (179, 0), (179, 0), (179, 1), (-180, 0)]) == nil)
    let center = place(0, 0)
    #expect(GeoShape.circle(center: center, radius: -1).mistake != nil)
    #expect(GeoShape.circle(center: center, radius: .nan).mistake != nil)
    #expect(GeoPosition(latitude: 90.1, longitude: 0) == nil)
    #expect(GeoPosition(latitude: 0, longitude: .nan) == nil)
    let many = (0...10_000).map { (Double($0) / 60 - 90, 1.0) }
    #expect(mistake(many + many.prefix(1))?.contains("10000") == true)
  }

  @Test func `holes are inside the outer ring and apart from it`() {
    let outer = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)]
    func mistake(_ holes: [(Double, Double)]...) -> String? {
      GeoShape.polygon(outer: ring(outer), holes: holes.map(ring)).mistake
    }
    let inner = [(2.0, 2.0), (4.0, 2.0), (4.0, 4.0), (2.0, 4.0)]
    #expect(mistake(inner) == nil)
    #expect(mistake(inner.reversed()) == nil)
    #expect(mistake(inner, [(6, 6), (8, 6), (8, 8)]) == nil)
    // It touches the outer ring at a corner.
    #expect(mistake([(0, 0), (2, 1), (1, 2)]) == nil)
    let outside = "a hole must be inside the outer ring"
    #expect(mistake([(20, 2), (24, 2), (24, 4)]) == outside)
    #expect(mistake([(-1, -1), (11, -1), (11, 11), (-1, 11)]) == outside)
    #expect(mistake([(5, 5), (15, 5), (15, 6)])?.contains("cross each other") == true)
    #expect(mistake(inner, [(3, 3), (6, 3), (6, 6)])?.contains("cross each other") == true)
    #expect(mistake(outer)?.contains("a side in common") == true)
    #expect(mistake(outer.reversed())?.contains("a side in common") == true)
    #expect(mistake(inner, inner)?.contains("a side in common") == true)
    #expect(mistake([(0, 0), (10, 0), (5, 5)])?.contains("a side in common") == true)
  }

  @Test func `shapes are parsed as they are printed`() throws {
    var random = SeededRandom(seed: 4)
    let outer = ring([(0, 0), (10, 0), (10, 10), (0, 10)])
    for _ in 0..<200 {
      let center = random.place()
      let corners = [center, random.place()].sorted { $0.latitude < $1.latitude }
      let shapes: [GeoShape] = [
        .circle(center: center, radius: Double.random(in: 0...4, using: &random)),
        .box(bottomLeft: corners[0], topRight: corners[1]),
        .polygon(outer: random.ring(around: SphericalVector(center), 0.2), holes: []),
        .polygon(outer: outer, holes: [ring([(2, 2), (4, 2), (4, 4)])]),
      ]
      for shape in shapes {
        let predicate = Predicate.comparison(Comparison(.path(["home"]), .in, .shape(shape)))
        #expect(try PredicateParser.parse("\(predicate)") == predicate)
        let any = Predicate.any(["homes"], .in, .shape(shape))
        #expect(try PredicateParser.parse("NOT (\(any))") == .not(any))
      }
    }
    let text = "home geoWithin geoCircle([1, -2.5, 100], 0.1)"
    let circle = GeoShape.circle(center: place(1, -2.5), radius: 0.1)
    #expect(
      try PredicateParser.parse(text)
        == .comparison(Comparison(.path(["home"]), .in, .shape(circle))))
    // These are names elsewhere.
    #expect(try PredicateParser.parse("geoWithin == 1 AND geoBox == 2") != .constant(true))
  }

  @Test(arguments: [
    ("home IN geoCircle([1, 2], -1)", 8, "the radius of a circle must be 0 or more"),
    ("home IN geoCircle([1, 99], 1)", 18, "a place is a longitude from"),
    ("home IN geoCircle([1 2], 1)", 21, "expected ',' and a latitude"),
    ("home IN geoBox([1, 2])", 21, "expected ',' and the north-east corner"),
    ("home IN geoBox([0, 2], [1, 1])", 8, "a box whose top is south of its bottom"),
    ("home GEOWITHIN {1, 2}", 15, "expected GEOBOX, GEOCIRCLE, GEOPOLYGON or %@"),
    ("home IN geoPolygon({[1, 2], [3, 4], [1, 2]})", 8, "a ring needs at least four places"),
    ("home IN geoPolygon([1, 2])", 19, "expected '{' and the places of a ring"),
    ("home IN geoCircle([1, 'x'], 1)", 22, "expected a latitude"),
  ])
  func `what is no shape is refused with its position`(
    _ text: String, _ offset: Int, _ message: String
  ) {
    let error = #expect(throws: PredicateSyntaxError.self) { try PredicateParser.parse(text) }
    #expect(error?.offset == offset)
    #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
  }
}

extension SeededRandom {
  fileprivate mutating func vector() -> SphericalVector {
    while true {
      func part() -> Double { Double.random(in: -1...1, using: &self) }
      let vector = SphericalVector(part(), part(), part())
      if vector.length > 0.1, vector.length < 1 { return vector.unit }
    }
  }

  /// All over the earth, with some poles, and some on the meridians of 0° and 180°.
  fileprivate mutating func place() -> GeoPosition {
    switch below(20) {
    case 0: GeoPosition(latitude: pick([-90, 90]), longitude: pick([-180, 0, 35, 180]))!
    case 1:
      GeoPosition(
        latitude: Double.random(in: -90...90, using: &self), longitude: pick([-180, 0, 180]))!
    default: vector().place
    }
  }

  fileprivate mutating func place(near center: GeoPosition) -> GeoPosition {
    place(near: SphericalVector(center), 0.001)
  }

  fileprivate mutating func place(near center: SphericalVector, _ size: Double) -> GeoPosition {
    let angle = Double.random(in: 0...(2 * .pi), using: &self)
    return center.moved(angle, size * Double.random(in: 0...1.2, using: &self)).place
  }

  /// Each direction from the center once, at random distances.
  fileprivate mutating func ring(around center: SphericalVector, _ size: Double) -> [GeoPosition] {
    let count = 4 + below(20)
    let step = 2 * Double.pi / Double(count)
    let places = (0..<count).map { index in
      let angle = (Double(index) + Double.random(in: 0...0.6, using: &self)) * step
      return center.moved(angle, size * Double.random(in: 0.1...1, using: &self)).place
    }
    return places + [places[0]]
  }
}

extension SphericalVector {
  fileprivate var place: GeoPosition {
    GeoPosition(
      latitude: asin(max(-1, min(1, z))) * 180 / .pi, longitude: atan2(y, x) * 180 / .pi)!
  }

  /// So far away in some direction.
  fileprivate func moved(_ direction: Double, _ distance: Double) -> SphericalVector {
    let helper = abs(x) < 0.6 ? SphericalVector(1, 0, 0) : SphericalVector(0, 1, 0)
    let first = cross(helper).unit
    let second = cross(first)
    let (a, b) = (cos(direction) * sin(distance), sin(direction) * sin(distance))
    let up = cos(distance)
    return SphericalVector(
      up * x + a * first.x + b * second.x, up * y + a * first.y + b * second.y,
      up * z + a * first.z + b * second.z)
  }
}
